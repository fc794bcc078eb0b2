"""The asynchronous client. `forkpoint.sync` is made from it by tools/make_sync.py."""
