#!/usr/bin/env bash
# Builds the programs of a Kubernetes of one node for `ops/ci/with-kubernetes.sh`, once per machine. Run by `ops/ci/provision.sh --long`.
# Needs root and Debian for the other programs of a node, and Go for Kubernetes' own.
set -euo pipefail
# Newer than what the chart needs, and old enough for machines with version 1 of cgroups.
minor=30.14
folder="${XDG_CACHE_HOME:-$HOME/.cache}/videogen-tests/kubernetes-v1.$minor"
[ ! -e "$folder/complete" ] || exit 0
[ "$(id -u)" = 0 ]
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

# Packages that start services are only extracted.
timeout 120 apt-get update -qq || true
DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -qq -y --no-install-recommends conntrack dnsmasq-base iptables runc
cd "$work"
timeout 300 apt-get download -qq containerd containernetworking-plugins etcd-server
for package in *.deb; do dpkg-deb --extract "$package" debian; done
cp debian/usr/bin/* "$folder"
cp -r debian/usr/lib/cni "$folder"

# Kubernetes' module replaces the modules that it is published as, so it is built as a part of another one with the published versions.
mkdir module && cd module
export GOTOOLCHAIN=local
go mod init node
go mod download -json "k8s.io/kubernetes@v1.$minor" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p' | xargs cat |
  sed -n "s#^\s*\(k8s.io/[a-z-]*\) => .*#-replace=\1=\1@v0.$minor#p" | xargs go mod edit "-require=k8s.io/kubernetes@v1.$minor"
symbols=
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  # Helm compares the server's version with that of the chart.
  symbols+=" -X $package.gitVersion=v1.$minor -X $package.gitMajor=1 -X $package.gitMinor=${minor%.*}"
done
for program in kubectl kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet; do
  go build -mod=mod -ldflags "-s -w$symbols" -o "$folder" "k8s.io/kubernetes/cmd/$program"
done

# The container that keeps the network of a pod.
mkdir ../pause && cd ../pause
cat >main.go <<'END'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	<-stopped
}
END
CGO_ENABLED=0 go build -o pause main.go
tar --create --file layer.tar pause
cat >config.json <<END
{ "architecture": "$(go env GOARCH)", "os": "linux", "config": { "Entrypoint": ["/pause"] },
  "rootfs": { "type": "layers", "diff_ids": ["sha256:$(sha256sum layer.tar | cut -d' ' -f1)"] } }
END
echo '[{ "Config": "config.json", "RepoTags": ["localhost/pause:1"], "Layers": ["layer.tar"] }]' >manifest.json
tar --create --file "$folder/pause.tar" manifest.json config.json layer.tar
touch "$folder/complete"
