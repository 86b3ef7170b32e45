"""The service's own counters; the only part that knows Prometheus's client, in exposition.py."""
