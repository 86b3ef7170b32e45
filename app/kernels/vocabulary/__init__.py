"""Terms as packed bytes with a hash table: learnt, sorted, looked up."""
