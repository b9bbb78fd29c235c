#!/usr/bin/env bash
# Runs the README's two commands as on a fresh machine: in a fresh clone, with an empty home folder, and with Node.js, npm, git, a shell and
# coreutils as the only programs on the PATH. Only the settings for package registries are passed on.
set -euo pipefail
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"
for program in node npm git sh '[' basename cat chmod chown cp cut date dirname echo env expr false head id ln ls mkdir mkfifo mktemp mv nice \
  nproc printf pwd readlink realpath rm rmdir seq sleep sort stat stty tail tee test timeout touch tr true tty uname uniq wc whoami; do
  path="$(type -P "$program")" && ln -s "$path" "$work/bin/$program"
done
registry_settings=(npm_config_userconfig="$HOME/.npmrc")
for name in $(compgen -e); do
  case "${name,,}" in npm_config_* | *_proxy | node_extra_ca_certs) registry_settings+=("$name=${!name}") ;; esac
done
git clone --quiet . "$work/videogen"
cd "$work/videogen"
commands="$(grep -oE '^npm ci && npm (run )?[a-z]+' README.md)"
while read -r command; do
  echo "bare: $command"
  env -i HOME="$work/home" PATH="$work/bin" "${registry_settings[@]}" sh -c "$command" </dev/null
done <<<"$commands"
