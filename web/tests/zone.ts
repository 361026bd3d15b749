// Imported before any module that knows a zone, by tests that tell times. They run in one that has summer time, on every
// machine: Berlin is an hour ahead of UTC, and two from 29 March to 25 October 2026.

process.env.TZ = "Europe/Berlin";
