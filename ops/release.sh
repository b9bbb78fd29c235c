#!/usr/bin/env bash
# Builds what a release has besides the image: `ops/release.sh VERSION FOLDER` writes the npm archive, the wheel, the chart and their
# checksums into a new folder. Needs `npm ci`, Python with pip, and helm (on the PATH, or its path in HELM).
set -euo pipefail
version="${1:?usage: ops/release.sh VERSION FOLDER}"
folder="${2:?usage: ops/release.sh VERSION FOLDER}"
root="$(cd "$(dirname "$0")/.." && pwd)"

# require FILE LINE: the file has the version of the release.
mismatches=0
require() {
  grep --quiet --fixed-strings --line-regexp -- "$2" "$root/$1" || { echo "$1: expected the line '$2'" >&2 && mismatches=1; }
}
require package.json "  \"version\": \"$version\","
require clients/typescript/package.json "  \"version\": \"$version\","
require clients/python/pyproject.toml "version = \"$version\""
require ops/helm/videogen/Chart.yaml "version: $version"
require ops/helm/videogen/Chart.yaml "appVersion: $version"
[ "$mismatches" = 0 ] || exit 1

mkdir "$folder"
folder="$(cd "$folder" && pwd)"
cd "$root"
npm run --silent build
npm pack --silent ./clients/typescript --pack-destination "$folder"
python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder" ./clients/python
"${HELM:-helm}" package ops/helm/videogen --destination "$folder"
cd "$folder"
sha256sum -- *.tgz *.whl | tee SHA256SUMS
