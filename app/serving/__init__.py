"""The running service without HTTP."""
