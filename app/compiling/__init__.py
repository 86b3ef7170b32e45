"""Compiling all kernels ahead of their use, in processes of their own."""
