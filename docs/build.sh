#!/bin/sh
# Builds these pages as a site that needs no network to be read: build/docs/site/index.html.
#   docs/build.sh [FOLDER OF THE doetune PROGRAM [OUTPUT FOLDER]]
# The programs say what the generated pages and figures show (default: build/release/bin).
set -eu
here=$(dirname -- "$0")
sh "$here/../cmake/install-packages.sh" docs
programs=${1:-$here/../build/release/bin}
[ -x "$programs/doetune" ] || {
  echo "build.sh: there is no doetune in $programs: build it, or give its folder" >&2
  exit 2
}
exec /usr/bin/python3 "$here/site/build.py" "$programs" "${2:-$here/../build/docs}"
