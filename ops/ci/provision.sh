#!/usr/bin/env bash
# Installs the programs that the tests use besides Node.js: `ops/ci/provision.sh`, or `ops/ci/provision.sh --long` for those of
# `npm run test:all` too. Each is built once per machine, into ~/.cache/videogen-tests. Writes their paths to `env` in that folder, which
# the test runner reads, and ends with the list of what could not be installed; the tests that need it are skipped and say so.
# Needs Python, Go (for most programs) and, on Debian, root (for the container engine) or sudo without a password (for Chromium and the
# load balancers).
set -uo pipefail
tier="${1:-}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/videogen-tests"
mkdir -p "$cache"
: >"$cache/env.next"
: >"$cache/missing"

# provide NAME COMMAND…: runs the command, which is quick if the program is there, and records a failure. The command may change its
# working directory, so it runs in a shell of its own.
provide() {
  local name="$1" log="$cache/$1.log"
  shift
  if ("$@") >"$log" 2>&1; then rm "$log"; else echo "$name (see $log)" >>"$cache/missing"; fi
}
use() { echo "$1=$2" >>"$cache/env.next"; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo --non-interactive "$@"; fi; }

apt_install() {
  command -v apt-get && as_root true || return 1
  as_root timeout 120 apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -qq -y --no-install-recommends "$@"
}

# provide_go NAME MODULE@VERSION VARIABLE
provide_go() {
  local name="$1" module="$2" variable="$3" folder="$cache/$1-${2##*@}"
  [ -x "$folder/$name" ] || GOBIN="$folder" timeout 1200 go install "$module" || return 1
  use "$variable" "$folder/$name"
}

# provide_python NAME VARIABLE PROGRAM PACKAGE…: packages in a folder of their own, because some pin many others.
provide_python() {
  local name="$1" variable="$2" program="$3" venv
  shift 3
  venv="$cache/$name-$(echo "$@" | sha256sum | cut -c1-12)"
  [ -e "$venv/complete" ] || {
    rm -rf "$venv" && python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "$@" || return 1
    touch "$venv/complete"
  }
  use "$variable" "$venv/bin/$program"
}

provide_chromium() {
  local found
  found="$(command -v chromium || command -v chromium-browser || command -v google-chrome)" ||
    { apt_install chromium && found="$(command -v chromium)"; } || return 1
  use CHROMIUM_PATH "${CHROMIUM_PATH:-$found}"
  # A browser that was installed must work: its tests fail rather than be skipped.
  use VIDEOGEN_REQUIRE_BROWSER 1
}

# Load balancers, behind which APIs are restarted. The packages would start services.
provide_proxies() {
  command -v haproxy && command -v nginx || {
    apt_install haproxy nginx-light && { as_root service haproxy stop && as_root service nginx stop || true; }
  }
}

# The tools of the Python client (the group `dev` of its pyproject.toml), each Python from 3.10 to 3.13 that is installed, and the
# packages that the client depends on, so that its tests need no registry.
provide_python_client_tools() {
  local project="$root/clients/python/pyproject.toml" pythons=() version candidate dependencies venv
  for version in 3.10 3.11 3.12 3.13; do
    for candidate in "$(command -v "python$version")" "$HOME/.pyenv/versions/$version".*/bin/python; do
      "$candidate" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" || continue
      pythons+=("$candidate") && break
    done
  done
  [ "${#pythons[@]}" -gt 0 ] || return 1
  venv="$cache/python-client-$({ cat "$project" && echo "${pythons[@]}"; } | sha256sum | cut -c1-12)"
  [ -e "$venv/complete" ] || {
    rm -rf "$venv" && python3 -m venv "$venv" && "$venv/bin/pip" install --quiet pip==26.3 &&
      "$venv/bin/pip" install --quiet --group "$project:dev" && "$venv/bin/pyright" --version || return 1
    dependencies="$("$venv/bin/python" -c "import sys, tomllib
print(*tomllib.load(open(sys.argv[1], 'rb'))['project']['dependencies'])" "$project")" || return 1
    for candidate in "${pythons[@]}"; do
      # shellcheck disable=SC2086 # one word for each dependency
      "$venv/bin/pip" --python "$candidate" download --quiet --dest "$venv/wheels" $dependencies || return 1
    done
    touch "$venv/complete"
  }
  use VIDEOGEN_TEST_PYTHON_CLIENT_TOOLS "$venv"
  use VIDEOGEN_TEST_PYTHONS "$(IFS=: && echo "${pythons[*]}")"
}

# Prometheus' own checker of rules, from Debian's package, of which nothing else is installed.
provide_promtool() {
  local folder="$cache/promtool" work
  [ -x "$folder/promtool" ] || {
    work="$(mktemp -d)" && cd "$work" && { timeout 120 apt-get update -qq || true; } &&
      timeout 120 apt-get download -qq prometheus && dpkg-deb --extract prometheus_*.deb . &&
      mkdir -p "$folder" && mv usr/bin/promtool "$folder" && rm -r "$work" || return 1
  }
  use VIDEOGEN_TEST_PROMTOOL "$folder/promtool"
}

# An OpenTelemetry collector with one receiver and one exporter.
provide_otelcol() {
  local version=v0.160.0
  local folder="$cache/otelcol-$version" builder="$cache/otelcol-builder-$version"
  [ -x "$folder/otelcol" ] || {
    mkdir -p "$folder" && cd "$folder" && GOBIN="$builder" timeout 600 go install "go.opentelemetry.io/collector/cmd/builder@$version" &&
      printf '%s\n' 'dist: { name: otelcol, output_path: ./build, version: 0.160.0 }' \
        "receivers: [{ gomod: go.opentelemetry.io/collector/receiver/otlpreceiver $version }]" \
        "exporters: [{ gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter $version }]" >builder.yaml &&
      timeout 600 "$builder/builder" --config builder.yaml && mv build/otelcol . && rm -r build || return 1
  }
  use VIDEOGEN_TEST_OTELCOL "$folder/otelcol"
}

# Kubernetes' schemas, which a Python package contains; kubeconform checks the chart against them.
provide_kubernetes_schemas() {
  local version=1.37.0 work
  local folder="$cache/kubernetes-schemas-$version"
  [ -d "$folder" ] || {
    work="$(mktemp -d)" &&
      timeout 300 python3 -m pip download --quiet --no-deps --dest "$work" "kubernetes-validate==$version" &&
      python3 -m zipfile --extract "$work"/*.whl "$work" &&
      mv "$work/kubernetes_validate/kubernetes-json-schema" "$folder" && rm -r "$work" || return 1
  }
  use VIDEOGEN_TEST_KUBERNETES_SCHEMAS "$folder"
}

# An earlier PostgreSQL, from which the upgrade recipes start.
provide_postgres_15() { [ -x /usr/lib/postgresql/15/bin/postgres ] || apt_install postgresql-15; }

# Temporal's production server and the tool that creates its schema.
provide_temporal_server() {
  local version=v1.32.1
  local folder="$cache/temporal-server-$version"
  [ -x "$folder/server" ] && [ -x "$folder/temporal-sql-tool" ] || {
    GOBIN="$folder" timeout 1200 go install "go.temporal.io/server/cmd/server@$version" &&
      GOBIN="$folder" timeout 600 go install "go.temporal.io/server/cmd/tools/sql@$version" &&
      mv "$folder/sql" "$folder/temporal-sql-tool" || return 1
  }
  use TEMPORAL_SERVER_PATH "$folder/server"
}

# Debian's container engine, unless the machine has one, with the plugins `compose` and `buildx`, and the images that Dockerfile and
# docker-compose.yml name. `go install` refuses both plugins, because their modules replace others.
provide_docker() {
  local plugins="$cache/docker-cli/cli-plugins" compose=github.com/docker/compose/v2 buildx=github.com/docker/buildx work
  docker version || command -v dockerd || apt_install docker.io iptables || return 1
  docker compose version && docker buildx version || [ -x "$plugins/docker-compose" ] || {
    work="$(mktemp -d)" && cd "$work" && go mod init plugins && mkdir -p "$plugins" &&
      go get -tool "$compose/cmd@v2.40.3" "$buildx/cmd/buildx@v0.29.1" &&
      go build -o docker-buildx -ldflags "-X $buildx/version.Version=v0.29.1" "$buildx/cmd/buildx" &&
      go build -o docker-compose -ldflags "-X $compose/internal.Version=v2.40.3" "$compose/cmd" &&
      mv docker-buildx docker-compose "$plugins" && cd / && rm -r "$work" || return 1
  }
  command -v debootstrap || apt_install debootstrap || true
  "$root/ops/ci/with-docker.sh" "$root/ops/ci/images.sh" && use VIDEOGEN_TEST_DOCKER 1
}
# A Kubernetes of one node, in which the chart is tried.
provide_kubernetes() { "$root/ops/ci/kubernetes.sh" && use VIDEOGEN_TEST_KUBERNETES 1; }

# The compiler of Go and the downloads of the other programs run side by side.
{
  provide versitygw provide_go versitygw github.com/versity/versitygw/cmd/versitygw@v1.8.0 VIDEOGEN_TEST_S3
  provide kubeconform provide_go kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 VIDEOGEN_TEST_KUBECONFORM
  provide helm provide_go helm helm.sh/helm/v3/cmd/helm@v3.22.0 VIDEOGEN_TEST_HELM
  provide stripe-mock provide_go stripe-mock github.com/stripe/stripe-mock@v0.203.0 VIDEOGEN_TEST_STRIPE_MOCK
  provide actionlint provide_go actionlint github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 VIDEOGEN_TEST_ACTIONLINT
  provide otelcol provide_otelcol
} &
provide chromium provide_chromium
provide proxies provide_proxies
# schemathesis drives the API; cog and comfy-api-proxy are upstreams.
provide python-tools provide_python python VIDEOGEN_TEST_PYTHON python schemathesis==4.32.5 cog==0.23.1 comfy-api-proxy==0.1.6
provide python-client-tools provide_python_client_tools
provide openai-clients provide_python openai-clients VIDEOGEN_TEST_OPENAI_PYTHON python openai==3.57.0 'litellm[proxy]==1.108.7'
provide zizmor provide_python zizmor VIDEOGEN_TEST_ZIZMOR zizmor zizmor==1.32.0
provide promtool provide_promtool
provide kubernetes-schemas provide_kubernetes_schemas
wait
if [ "$tier" = --long ]; then
  # NVIDIA's load generator, which takes 1.2 GB.
  provide aiperf provide_python aiperf VIDEOGEN_TEST_AIPERF aiperf aiperf==0.13.0
  provide temporal-server provide_temporal_server
  provide postgresql-15 provide_postgres_15
  provide docker provide_docker
  provide kubernetes provide_kubernetes
fi
mv "$cache/env.next" "$cache/env"
sed 's/^/could not install: /' "$cache/missing" >&2
