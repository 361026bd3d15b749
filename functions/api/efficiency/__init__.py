"""What tasks used of what their slots offer: of a job, with findings. It may import all other subjects."""
