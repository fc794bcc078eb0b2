"""What both clients share, without any I/O."""
