/**
 * Places where a client must never be able to send us. `port` is that of a trap which listens on 127.0.0.1 and counts
 * connections. Names end in `.example` and resolve to `answers`; a target without `answers` needs no look-up.
 */
export type HostileTarget = { readonly title: string; readonly url: string; readonly answers?: readonly string[] };

export function hostileTargets(port: number): readonly HostileTarget[] {
  return [
    ...literalTargets(port),
    ...ipv6Targets(port),
    ...otherAddresses,
    ...syntaxTargets(port),
    ...schemeTargets(port),
    ...nameTargets(port),
  ];
}

const literal = (title: string, url: string): HostileTarget => ({ title, url });

const literalTargets = (port: number) => [
  literal('loopback', `http://127.0.0.1:${port}/`),
  literal('another loopback address', `http://127.8.9.10:${port}/`),
  literal('decimal IPv4', `http://2130706433:${port}/`),
  literal('octal IPv4 in one number', `http://017700000001:${port}/`),
  literal('octal IPv4 with dots', `http://0177.0.0.01:${port}/`),
  literal('hexadecimal IPv4 in one number', `http://0x7f000001:${port}/`),
  literal('hexadecimal IPv4 with dots', `http://0x7f.0x0.0x0.0x1:${port}/`),
  literal('mixed octal, hexadecimal and decimal IPv4', `http://0177.0x0.0.1:${port}/`),
  literal('IPv4 of two parts', `http://127.1:${port}/`),
  literal('IPv4 of three parts', `http://127.0.1:${port}/`),
  literal('zero', `http://0:${port}/`),
  literal('the unspecified address', `http://0.0.0.0:${port}/`),
  literal('this network', `http://0.1.2.3:${port}/`),
  literal('IPv4 with a trailing dot', `http://127.0.0.1.:${port}/`),
  literal('full-width digits', `http://１２７.０.０.１:${port}/`),
  literal('ideographic full stops', `http://127。0。0。1:${port}/`),
  literal('circled digits', `http://①②⑦.⓪.⓪.①:${port}/`),
  literal('percent-encoded digits', `http://%31%32%37.0.0.1:${port}/`),
  literal('loopback over TLS', `https://127.0.0.1:${port}/`),
];

const ipv6Targets = (port: number) => [
  literal('IPv6 loopback', `http://[::1]:${port}/`),
  literal('IPv6 loopback in full', `http://[0:0:0:0:0:0:0:1]:${port}/`),
  literal('the unspecified IPv6 address', `http://[::]:${port}/`),
  literal('IPv4-mapped with dots', `http://[::ffff:127.0.0.1]:${port}/`),
  literal('IPv4-mapped in hexadecimal', `http://[::ffff:7f00:1]:${port}/`),
  literal('IPv4-mapped in full', `http://[0:0:0:0:0:ffff:127.0.0.1]:${port}/`),
  literal('IPv4-mapped metadata', 'http://[::ffff:169.254.169.254]/latest/meta-data/'),
  literal('IPv4-compatible', `http://[::127.0.0.1]:${port}/`),
  literal('IPv4-compatible private', 'http://[::10.0.0.1]/'),
  literal('IPv4-translated', `http://[::ffff:0:127.0.0.1]:${port}/`),
  literal('NAT64 of loopback', `http://[64:ff9b::127.0.0.1]:${port}/`),
  literal('NAT64 of metadata', 'http://[64:ff9b::a9fe:a9fe]/'),
  literal('local NAT64', `http://[64:ff9b:1::7f00:1]:${port}/`),
  literal('6to4 of loopback', `http://[2002:7f00:1::]:${port}/`),
  literal('6to4 of a private address', 'http://[2002:a00:1::1]/'),
  literal('Teredo', 'http://[2001:0:7f00:1::80ff:fffe]/'),
  literal('ISATAP', 'http://[2a00:1450::5efe:7f00:1]/'),
  literal('ISATAP with the universal bit', 'http://[2a00:1450::200:5efe:a00:1]/'),
  literal('IPv6 link-local', 'http://[fe80::1]/'),
  literal('a zone id', `http://[fe80::1%25eth0]:${port}/`),
  literal('a zone id on loopback', `http://[::1%25lo]:${port}/`),
  literal('a bare zone id', `http://[::1%lo]:${port}/`),
  literal('site-local', 'http://[fec0::1]/'),
  literal('unique local', 'http://[fd12:3456:789a::1]/'),
  literal('IPv6 multicast', 'http://[ff02::1]/'),
  literal('IPv6 documentation', 'http://[2001:db8::1]/'),
  literal('newer IPv6 documentation', 'http://[3fff::1]/'),
  literal('ORCHID', 'http://[2001:10::1]/'),
  literal('ORCHIDv2', 'http://[2001:20::1]/'),
  literal('IPv6 benchmarking', 'http://[2001:2::1]/'),
  literal('IPv6 discard', 'http://[100::1]/'),
  literal('segment routing', 'http://[5f00::1]/'),
  literal('unassigned IPv6', 'http://[4000::1]/'),
];

const otherAddresses = [
  literal('private 10/8', 'http://10.0.0.1/'),
  literal('private 172.16/12', 'http://172.31.255.254/'),
  literal('private 192.168/16 in octal', 'http://0300.0250.0.1/'),
  literal('carrier-grade NAT', 'http://100.64.0.1/'),
  literal('link-local', 'http://169.254.1.1/'),
  literal('protocol assignments 192.0.0/24', 'http://192.0.0.8/'),
  literal('documentation 192.0.2/24', 'http://192.0.2.1/'),
  literal('documentation 198.51.100/24', 'http://198.51.100.1/'),
  literal('documentation 203.0.113/24', 'http://203.0.113.1/'),
  literal('6to4 relay', 'http://192.88.99.1/'),
  literal('benchmarking 198.18/15', 'http://198.19.0.1/'),
  literal('multicast', 'http://224.0.0.1/'),
  literal('reserved 240/4', 'http://240.0.0.1/'),
  literal('broadcast', 'http://255.255.255.255/'),
  literal('metadata of most clouds', 'http://169.254.169.254/latest/meta-data/iam/'),
  literal('metadata in decimal', 'http://2852039166/'),
  literal('metadata of containers', 'http://169.254.170.2/v2/credentials'),
  literal('metadata of Azure, a public address', 'http://168.63.129.16/metadata'),
  literal('metadata of Alibaba', 'http://100.100.100.200/latest/meta-data/'),
  literal('metadata of Oracle', 'http://192.0.0.192/opc/v2/'),
  literal('metadata of AWS over IPv6', 'http://[fd00:ec2::254]/latest/'),
  literal('metadata of Google over IPv6', 'http://[fd20:ce::254]/'),
];

const syntaxTargets = (port: number) => [
  literal('user info', `http://user:secret@public.example:${port}/`),
  literal('a user that looks like the host', `http://public.example@127.0.0.1:${port}/`),
  literal('a user without a password', `http://user@public.example:${port}/`),
  literal('back slashes', `http:\\\\127.0.0.1:${port}\\`),
  literal('too many slashes', `http:////127.0.0.1:${port}/`),
  literal('a tab in the host', `http://127.0.\t0.1:${port}/`),
  literal('localhost', `http://localhost:${port}/`),
  literal('LOCALHOST with a trailing dot', `http://LOCALHOST.:${port}/`),
  literal('localhost in circled letters', `http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:${port}/`),
  literal('a name below localhost', `http://anything.localhost:${port}/`),
  literal('the SSH port of a public address', 'http://8.8.8.8:22/'),
  name('the SMTP port of a public name', 25, ['8.8.8.8']),
  name('the Redis port of a public name', 6379, ['8.8.8.8']),
  name('port zero', 0, ['8.8.8.8']),
];

const schemeTargets = (port: number) => [
  literal('file:', 'file:///etc/passwd'),
  literal('file: with a host', 'file://127.0.0.1/etc/passwd'),
  literal('ftp:', `ftp://127.0.0.1:${port}/`),
  literal('data:', 'data:image/png;base64,iVBORw0KGgo='),
  literal('gopher:', `gopher://127.0.0.1:${port}/_GET%20/`),
  literal('javascript:', 'javascript:alert(1)'),
  literal('blob:', `blob:http://127.0.0.1:${port}/1`),
  literal('ws:', `ws://127.0.0.1:${port}/`),
  literal('unix:', 'unix:/var/run/docker.sock'),
];

const nameTargets = (port: number) => [
  name('a name that resolves to loopback', port, ['127.0.0.1']),
  name('a name that resolves to IPv6 loopback', port, ['::1']),
  name('a name that resolves to a private address', port, ['10.1.2.3']),
  name('a name that resolves to metadata', port, ['169.254.169.254']),
  name('a name that resolves to an IPv4-mapped address', port, ['::ffff:127.0.0.1']),
  name('a name that resolves to a zoned address', port, ['fe80::1%eth0']),
  name('a name with a public and then a private address', port, ['8.8.8.8', '127.0.0.1']),
  name('a name with a private and then a public address', port, ['127.0.0.1', '8.8.8.8']),
  name('a name with a public IPv4 and a private IPv6 address', port, ['8.8.8.8', 'fd00::1']),
  name('a name whose answer is no address', port, ['127.1']),
  { ...name('a name with a trailing dot', port, ['127.0.0.1']), url: `http://hostile.example.:${port}/` },
];

function name(title: string, port: number, answers: readonly string[]): HostileTarget {
  return { title, url: `http://hostile.example:${port}/`, answers };
}
