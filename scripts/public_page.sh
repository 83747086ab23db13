#!/usr/bin/env bash
# Writes what `contend validate public` prints into docs/validation/public.md. Needs the public data (CONTEND_DATA).
#
#   scripts/public_page.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/contend}
table=$("$program" validate public) || true
python3 - "$table" <<'END'
import re, sys
path = "docs/validation/public.md"
text = open(path).read()
block = "<!-- contend validate public -->\n\n" + sys.argv[1].split("\n", 2)[2].strip() + "\n\n<!-- end -->"
open(path, "w").write(re.sub(r"<!-- contend validate public -->.*<!-- end -->", lambda _: block, text, flags=re.S))
END
