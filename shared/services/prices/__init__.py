"""Reading the retail list once a day, and the prices of an account's pools. Imports `accounts`."""
