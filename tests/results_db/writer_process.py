"""A writer for the stress test: HOME COUNT. Prints each id after it was acknowledged."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from results_db.ledger import Ledger
from tests.results_db.records import call

if __name__ == "__main__":
    ledger = Ledger(Path(sys.argv[1]), writer="stress")
    for number in range(int(sys.argv[2])):
        call_id = f"{os.getpid()}-{number}"
        ledger.call(call(call_id, arguments={"number": number}, error="x" * (number % 7 * 500)))
        os.write(1, f"{call_id}\n".encode())
