"""Networks: the only part that imports torch."""

import os

# Threads of torch that wait for each other sleep. Spinning, two of them are slower than one as soon
# as anything else runs. It is read once, when torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
