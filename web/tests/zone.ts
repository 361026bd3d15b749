// Sets the time zone of tests, which import this file before modules that use the zone. Berlin has summer time: it is
// one hour ahead of UTC, and two from 29 March to 25 October 2026.

process.env.TZ = "Europe/Berlin";
