#!/usr/bin/env bash
# Builds the image for test/ops/image.long.test.ts and names it: with Docker where its daemon runs, else with buildah (as root). Where
# Docker's registry cannot be reached, the base is made here, of Debian's packages and the npm package of Node.js.
#   test/ops/build-image.sh videogen:test && VIDEOGEN_TEST_IMAGE=videogen:test npm test -- ops/image
#   test/ops/build-image.sh videogen:test-arm64 arm64     # amd64 or arm64; another one than the machine's is emulated (qemu-user-static)
# CA_FILE: certificates of a proxy that stands between the build and the registries; for the time of the build alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
name="${1:?the name of the image}"
base="$(sed -n 's/^FROM \(node:.*\) AS base$/\1/p' Dockerfile)"

if docker info >/dev/null 2>&1; then
  exec docker build ${2:+--platform "linux/$2"} --tag "$name" .
fi
own="$(dpkg --print-architecture)"
wanted="${2:-$own}"

make_base() { # ARCHITECTURE, as Debian calls it
  local work node_version
  work="$(mktemp -d)"
  node_version="$(sed -E 's/node:([0-9.]+)-.*/\1/' <<<"$base")"
  debootstrap --arch="$1" --variant=minbase bookworm "$work/root" http://deb.debian.org/debian
  npm install --no-save --force --prefix "$work" "node-linux-${1/amd64/x64}@$node_version" npm@10
  install "$work"/node_modules/node-linux-*/bin/node "$work/root/usr/local/bin/node"
  mkdir -p "$work/root/usr/local/lib/node_modules"
  cp -r "$work/node_modules/npm" "$work/root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
  chroot "$work/root" useradd --uid 1000 --user-group --create-home node
  # As the slim image does.
  rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/usr/share/{doc,man,locale}
  local container
  container="$(buildah from --arch "$1" scratch)"
  buildah add --quiet "$container" "$work/root" /
  buildah config --cmd node "$container"
  buildah commit --quiet --manifest "docker.io/library/$base" "$container"
  buildah rm "$container"
  rm -rf "$work"
}

has_base() { buildah manifest inspect "docker.io/library/$base" 2>/dev/null | grep --quiet "\"architecture\": \"$1\""; }
for architecture in $(printf '%s\n' "$own" "$wanted" | sort --unique); do
  has_base "$architecture" || buildah pull --arch "$architecture" "docker.io/library/$base" || make_base "$architecture"
done
certificates=()
if [ -n "${CA_FILE:-}" ]; then
  settings="$(mktemp -d)"
  trap 'rm -rf "$settings"' EXIT
  echo 'cafile=/etc/build-ca.crt' >"$settings/npmrc"
  printf '[global]\ncert = /etc/build-ca.crt\n' >"$settings/pip.conf"
  certificates=(--volume "$CA_FILE:/etc/build-ca.crt:ro" --volume "$settings/npmrc:/root/.npmrc:ro"
    --volume "$settings/pip.conf:/etc/pip.conf:ro")
fi
buildah bud --isolation chroot --platform "linux/$wanted" --pull=false --layers "${certificates[@]}" --tag "$name" --file Dockerfile .
