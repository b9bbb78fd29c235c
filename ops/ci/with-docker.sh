#!/usr/bin/env bash
# Runs a command with a Docker engine: `ops/ci/with-docker.sh docker info`. It is the machine's own engine if one responds. Otherwise this
# script starts Debian's as root, for this command alone: one at a time, with its base images and build cache in
# ~/.cache/videogen-tests/docker. Afterwards nothing else of it remains: container, volume, network, process, packet filter rule.
set -euo pipefail
cache="${XDG_CACHE_HOME:-$HOME/.cache}/videogen-tests"
# The plugins that `ops/ci/provision.sh --long` has built.
docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1 || export DOCKER_CONFIG="$cache/docker-cli"
if docker version >/dev/null 2>&1; then exec "$@"; fi

mkdir -p "$cache"
exec 9>"$cache/docker.lock"
flock 9
# A socket's path is at most 108 characters long, and the folder of temporary files may be any.
work="$(TMPDIR=/tmp mktemp -d)"
export DOCKER_HOST="unix://$work/docker.sock"
forwarding="$(cat /proc/sys/net/ipv4/ip_forward)"
engine=

remove_all() {
  docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes
  docker volume ls --quiet | xargs --no-run-if-empty docker volume rm
  docker network prune --force
  docker images --quiet 'localhost/*' | sort --unique | xargs --no-run-if-empty docker image rm --force
  docker image prune --force
} >/dev/null

stop() {
  local status=$?
  trap - EXIT
  [ -z "$engine" ] || {
    remove_all || true
    kill "$engine" && wait "$engine" || true
    ip link delete docker0 || true
    # With all of its rules, those of the others stay as they are.
    iptables-save | grep -v -e DOCKER -e docker0 | iptables-restore
    echo "$forwarding" >/proc/sys/net/ipv4/ip_forward
  }
  rm -rf "$work"
  exit "$status"
}
trap stop EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# An engine that turns forwarding on itself also closes it to all others.
echo 1 >/proc/sys/net/ipv4/ip_forward
# In a group of its own, so that Ctrl-C ends the command first.
setsid dockerd --data-root "$cache/docker" --exec-root "$work/exec" --host "$DOCKER_HOST" --pidfile "$work/pid" --log-level warn \
  >"$work/log" 2>&1 9>&- &
engine=$!
until docker version >/dev/null 2>&1; do
  if ! kill -0 "$engine" 2>/dev/null; then
    engine=
    cat "$work/log" >&2
    exit 1
  fi
  sleep 0.2
done
# A run that was killed has left its own behind.
remove_all
"$@" 9>&-
