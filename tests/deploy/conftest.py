"""Where the tests of deploy/ find what they share, and what they share with the long runs."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parents[1] / "scripts")]
