#!/bin/sh
# python/environment.sh DIR: makes a virtual environment that builds and tests the Python module,
# of Debian's packages and those of requirements.txt.
set -eu
here=$(dirname -- "$0")
python=/usr/bin/python3  # Debian's packages are its
[ -x "$python" ] || python=python3
if [ ! -x "$1/bin/python" ]; then "$python" -m venv --system-site-packages "$1"; fi
if ! cmp -s "$here/requirements.txt" "$1/requirements.txt"; then
  "$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$1/requirements.txt"
fi
