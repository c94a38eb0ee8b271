"""Where documents come from: events, and files that become events (docs/spec/lifecycle.md)."""
