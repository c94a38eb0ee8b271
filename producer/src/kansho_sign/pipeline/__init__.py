"""The only modules that call several stages: ingest, publish, answer."""
