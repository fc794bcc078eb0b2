"""The synchronous client, made from `forkpoint.aio` by tools/make_sync.py."""
