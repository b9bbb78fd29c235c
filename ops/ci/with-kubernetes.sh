#!/usr/bin/env bash
# Runs a command with a Kubernetes of one node: `ops/ci/with-kubernetes.sh kubectl get pods --all-namespaces`. The node has Kubernetes' own
# programs, which `ops/ci/kubernetes.sh` builds, and runs for this command alone, as root, one at a time. Afterwards no container,
# network, mount, process or packet filter rule of it remains.
#
# The command gets KUBECONFIG, KUBERNETES_ADDRESS (of the node; pods reach what the command listens at there), KUBERNETES_NAMES (a folder
# for files with lines of an address and a name, which pods resolve) and KUBERNETES_CTR (the command line that imports images).
set -euo pipefail
cache="${XDG_CACHE_HOME:-$HOME/.cache}/videogen-tests"
programs="$(echo "$cache"/kubernetes-v*)"
exec 9>"$cache/kubernetes.lock"
flock 9
# Paths of sockets are short, and mounts are found by this one.
work="$(TMPDIR=/tmp mktemp -d)"
address=10.253.0.1
export KUBECONFIG="$work/kubeconfig" KUBERNETES_ADDRESS="$address" KUBERNETES_NAMES="$work/names" PATH="$programs:$PATH"
export KUBERNETES_CTR="ctr --address $work/containerd.sock --namespace k8s.io"
forwarding="$(cat /proc/sys/net/ipv4/ip_forward)"
started=()

# start NAME COMMAND…: in a group of its own, so that Ctrl-C ends the command first; it does not outlive this script.
start() {
  local name="$1"
  shift
  setsid setpriv --pdeathsig KILL "$@" >"$work/$name.log" 2>&1 9>&- &
  started+=("$!")
}

# until_ready WHAT COMMAND…
until_ready() {
  local what="$1"
  shift
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  echo "$what is not ready" >&2
  tail --lines=20 "$work"/*.log >&2
  exit 1
}

stop() {
  local status=$? id
  trap - EXIT
  for id in "${started[@]:3}"; do kill "$id" || true; done
  for id in $($KUBERNETES_CTR tasks list --quiet); do $KUBERNETES_CTR tasks delete --force "$id" || true; done
  for id in "${started[@]}"; do kill "$id" || true; done
  wait || true
  awk -v work="$work/" 'index($2, work) == 1 { print $2 }' /proc/mounts | sort --reverse | xargs --no-run-if-empty umount --lazy
  find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + || true
  ip link delete videogen-cni || true
  ip address delete "$address/32" dev lo || true
  # With all of its rules, those of the others stay as they are.
  iptables-save | grep -v -e KUBE- -e CNI- -e videogen-cni | iptables-restore
  echo "$forwarding" >/proc/sys/net/ipv4/ip_forward
  if [ "$status" != 0 ] && [ -n "${KUBERNETES_LOGS:-}" ]; then cp "$work"/*.log "$KUBERNETES_LOGS"; fi
  rm -rf --one-file-system "$work"
  exit "$status"
} >/dev/null 2>&1
trap stop EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# A run that was killed may have left it.
ip address replace "$address/32" dev lo
echo 1 >/proc/sys/net/ipv4/ip_forward
token="$(openssl rand -hex 16)"
mkdir "$work/cni" "$KUBERNETES_NAMES"
openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=kubernetes -addext "subjectAltName=IP:$address,IP:10.96.0.1" \
  -keyout "$work/server.key" -out "$work/server.crt" 2>/dev/null
echo "$token,admin,admin,system:masters" >"$work/tokens"
cat >"$KUBECONFIG" <<END
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: 'https://$address:16443', certificate-authority: $work/server.crt } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: admin } }]
current-context: test
END
cat >"$work/cni/10-bridge.conflist" <<END
{ "cniVersion": "0.4.0", "name": "bridge", "plugins": [
  { "type": "bridge", "bridge": "videogen-cni", "isGateway": true, "ipMasq": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "$work/addresses", "ranges": [[{ "subnet": "10.244.0.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
END
# The score of processes may not be lowered everywhere.
cat >"$work/containerd.toml" <<END
version = 2
root = "$work/containerd"
state = "$work/run"
[grpc]
  address = "$work/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$programs/cni"
    conf_dir = "$work/cni"
END
cat >"$work/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
address: $address
cgroupDriver: cgroupfs
clusterDNS: [$address]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://$work/containerd.sock
failSwapOn: false
evictionHard: { memory.available: 100Mi }
imageGCHighThresholdPercent: 100
resolvConf: $work/resolv.conf
END
echo "nameserver $address" >"$work/resolv.conf"
cat >"$work/proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: { kubeconfig: $KUBECONFIG }
clusterCIDR: 10.244.0.0/24
conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
hostnameOverride: node
mode: iptables
END

start containerd containerd --config "$work/containerd.toml"
start etcd etcd --data-dir "$work/etcd" --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
  --listen-peer-urls http://127.0.0.1:12380
start dns dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --local=/#/ --no-hosts --hostsdir="$KUBERNETES_NAMES" --listen-address="$address" \
  --bind-interfaces --user=root --pid-file=
until_ready containerd $KUBERNETES_CTR version
$KUBERNETES_CTR images import "$programs/pause.tar" >/dev/null
start apiserver kube-apiserver --etcd-servers http://127.0.0.1:12379 --bind-address "$address" --advertise-address "$address" \
  --secure-port 16443 --tls-cert-file "$work/server.crt" --tls-private-key-file "$work/server.key" --authorization-mode RBAC \
  --token-auth-file "$work/tokens" --service-cluster-ip-range 10.96.0.0/16 --service-account-issuer https://kubernetes.default \
  --service-account-key-file "$work/accounts.key" --service-account-signing-key-file "$work/accounts.key" \
  --kubelet-preferred-address-types=InternalIP --allow-privileged
until_ready 'the API server' kubectl get --raw /readyz
start controllers kube-controller-manager --kubeconfig "$KUBECONFIG" --root-ca-file "$work/server.crt" --leader-elect=false \
  --service-account-private-key-file "$work/accounts.key" --use-service-account-credentials --secure-port 0
start scheduler kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0
start proxy kube-proxy --config "$work/proxy.yaml"
start kubelet kubelet --kubeconfig "$KUBECONFIG" --config "$work/kubelet.yaml" --hostname-override node --node-ip "$address" \
  --root-dir "$work/kubelet" --cert-dir "$work/kubelet-certificates"
until_ready 'the node' kubectl wait --for=condition=Ready node/node --timeout=1s
"$@" 9>&-
