#!/bin/sh
# Installs the Debian packages that are missing, after saying which in one line.
#   cmake/install-packages.sh build          to build and use doetune
#   cmake/install-packages.sh build test     to test it as well
#   cmake/install-packages.sh build clang    to build it with Clang, as the sanitizers are
#   cmake/install-packages.sh build package  to make packages of it
#   cmake/install-packages.sh docs           to build the site of its pages
set -eu

build="g++ ccache cmake ninja-build pkg-config python3
  libboost-dev libboost-program-options-dev libceres-dev libcurl4-openssl-dev libdnnl-dev libeigen3-dev
  libfmt-dev libmuparser-dev libnlopt-cxx-dev libnlopt-dev libopenmpi-dev libre2-dev libsqlite3-dev
  libyaml-cpp-dev nlohmann-json3-dev openmpi-bin
  libavcodec-dev libavformat-dev libavutil-dev libswscale-dev zlib1g-dev"
test="catch2 clang-format chromium chromium-driver python3-selenium python3-jsonschema python3-yaml
  python3-dev python3-ipykernel python3-nbclient python3-pandas python3-venv"
# Tests that need these are skipped where they cannot be installed.
optional_test="r-base-core r-cran-mass r-cran-nlme python3-statsmodels librsvg2-bin
  faketime zsh fish groff mandoc slurmctld slurmd slurm-client munge
  openssh-server openssh-client rsync openjdk-17-jre-headless"
# kubectl is often there from elsewhere, in a package that conflicts with Debian's.
command -v kubectl >/dev/null || optional_test="$optional_test kubernetes-client"

wanted=""
optional=""
clang="clang libclang-rt-dev libomp-dev lld"
package="dpkg-dev file gzip"
docs="furo python3-myst-parser python3-sphinx python3-sphinx-copybutton"
for group in "$@"; do
  case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test"; optional="$optional_test $package $docs" ;;
    clang) wanted="$wanted $clang" ;;
    package) wanted="$wanted $package" ;;
    docs) wanted="$wanted $docs" ;;
    *) echo "install-packages.sh: no group is named '$group'; expected build, test, clang, package, docs" >&2; exit 2 ;;
  esac
done

# missing_of PACKAGES: those of them that are not installed.
missing_of() {
  for package in $1; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || printf ' %s' "$package"
  done
}

missing=$(missing_of "$wanted")
optional=$(missing_of "$optional")
if [ -z "$missing$optional" ]; then
  echo "Installs nothing: all packages are there."
  exit 0
fi
echo "Installs from Debian:$missing$optional"

as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -qq update
# shellcheck disable=SC2086  # a list of words
[ -z "$missing" ] || $as_root apt-get -qq install -y --no-install-recommends $missing >/dev/null
[ -n "$optional" ] || exit 0

# Among these are daemons, which the tests start for themselves: installing starts none.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
  trap '$as_root rm -f "$policy"' EXIT
fi
# shellcheck disable=SC2086
$as_root apt-get -qq install -y --no-install-recommends $optional >/dev/null ||
  echo "Goes without:$optional"
