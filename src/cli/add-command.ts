import type { Command } from 'commander';
import { invocation } from './output.ts';

const task = '019abc12-3456-7def-8901-234567890abc';
const lighthouse = 'generate "a lighthouse in a storm" --duration 4';
const account = '019abc34-5678-7def-8901-234567890abc';

/** Examples by command; '' is `videogen --help`. A group shows the first example of each of its commands. */
const examples: Readonly<Record<string, readonly string[]>> = {
  '': ['start', lighthouse, 'account list', 'key create --help'],
  start: ['start', 'start --json'],
  demo: ['demo', 'demo "a red kite over the sea" --image kite.jpg --ratio 9:16'],
  generate: [
    lighthouse,
    'generate "a paper boat" --image boat.jpg --ratio 9:16 --no-audio --out boat.mp4',
    'generate --help videogen-2.0',
    'generate "a paper boat" --set duration=8',
  ],
  follow: [`follow ${task}`, `follow ${task} --out lighthouse.mp4`],
  'account list': ['account list', 'account list --prefix stu --json'],
  'account create': ['account create studio --credits 10000'],
  'account limits': [`account limits ${account}`, `account limits ${account} --creates 50/10s --unfinished 200`],
  'account rename': [`account rename ${account} "Harbor Films"`],
  'account export': [`account export ${account}`, `account export ${account} --output account.jsonl`],
  mcp: ['mcp', 'mcp --base-url https://videogen.example.com'],
  'account close': [`account close ${account} --reason "requested by its owner"`],
  'credits grant': [`credits grant ${account} 5000 --reason "invoice 17"`],
  'key create': [
    `key create --account ${account}`,
    `key create --account ${account} --name ci --expires 90d`,
    `key create --account ${account} --name batch --cap-day 2000 --models videogen-2.0-fast`,
  ],
  'key list': [`key list --account ${account} --json`],
  'key revoke': ['key revoke 019abc56-789a-7def-8901-234567890abc'],
  'cap list': [`cap list ${account}`],
  'cap set': [
    `cap set ${account} --month 50000`,
    `cap set ${account} --key 019abc56-789a-7def-8901-234567890abc --day 2000 --total none`,
  ],
  'operator create': ['operator create "Ada Lovelace" --expires 90d'],
  'operator list': ['operator list --json'],
  'operator revoke': ['operator revoke 019abc78-9abc-7def-8901-234567890abc'],
  'user invite': [
    'user invite ada@example.com --operator',
    `user invite ben@example.com --account ${account} --role viewer`,
  ],
  'user reset': ['user reset ada@example.com'],
  'user list': ['user list', 'user list --search example.com --json'],
  'user disable': ['user disable ben@example.com'],
  'user erase': ['user erase ben@example.com'],
  'user enable': ['user enable ben@example.com'],
  'user setup-link': ['user setup-link'],
  'sign-up list': ['sign-up list', 'sign-up list --json'],
  'sign-up link': ['sign-up link 019abcbc-def0-7def-8901-234567890abc'],
  'code create': ['code create --name "spring sale" --credits 500 --count 100 --expires 90d > codes.csv'],
  'code list': ['code list'],
  'code withdraw': ['code withdraw 019abc9a-bcde-7def-8901-234567890abc --reason "the list leaked"'],
  'top-up list': ['top-up list', `top-up list --account ${account} --json`],
  'top-up reconcile': ['top-up reconcile', 'top-up reconcile --days 60'],
  'price list': ['price list', `price list --account ${account} --model videogen-2.0`],
  'price set': [
    'price set videogen-2.0 45 --from 2027-01-01T00:00:00Z --reason "new list price"',
    'price set videogen-2.0 40 --price standard --per-video 10 --reason "a fee for each video"',
    `price set videogen-2.0 default --account ${account} --reason "contract 17 ended"`,
  ],
  'price withdraw': ['price withdraw 12 --reason "contract cancelled"'],
  balance: ['balance', `balance ${account} --json`],
  statement: [`statement ${account}`, `statement ${account} --month 2026-10 --format html > statement.html`],
  'task list': ['task list', 'task list --state fail --limit 100 --json'],
  'task show': [`task show ${task}`],
  'task cancel': [`task cancel ${task} --reason "wrong prompt"`],
  'task delete': [`task delete ${task} --reason "requested by its owner"`],
  'callback-secret show': [`callback-secret show ${account}`, `callback-secret show ${account} --events`],
  'callback-secret rotate': [`callback-secret rotate ${account} --overlap 86400`],
  'event endpoint': [`event endpoint ${account}`],
  'event set': [`event set ${account} --url https://studio.example.com/events --low-balance 1000`],
  'event remove': [`event remove ${account}`],
  'event list': [`event list ${account}`, `event list ${account} --state failed --json`],
  'secret reencrypt': ['secret reencrypt', 'secret reencrypt --json'],
  audit: ['audit', 'audit --json'],
  reconcile: ['reconcile --report', 'reconcile --restored', 'reconcile --report --since 2026-11-01T00:00:00Z --json'],
  'provider list': ['provider list', 'provider list --json'],
  'provider set': ['provider set gpu-box draining --reason "new drivers tonight"'],
  margin: ['margin --from 2026-11-01T00:00:00Z', 'margin --from 2026-11-01T00:00:00Z --model videogen-2.0 --json'],
  'provider check': [
    'provider check http://127.0.0.1:9000 --key-env SCRIPT_KEY',
    'provider check http://gpu1:9000 --key-env SCRIPT_KEY --model wan-2.2 --json',
  ],
  'provider try': ['provider try builtin:kie', 'provider try ./upstream.yaml --send --key-env UPSTREAM_KEY'],
  'media copy': ['media copy', 'media copy --json'],
  'media check': ['media check', 'media check --forget --json'],
  migrate: ['migrate'],
  doctor: ['doctor', 'doctor --role worker --json'],
  worker: ['worker', 'worker --queues tasks,callbacks'],
};

/** Adds examples to the help of a command and of its subcommands. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const first = (below: Command) => examples[[...words, below.name()].join(' ')]?.slice(0, 1) ?? [];
  const lines = examples[words.join(' ')] ?? command.commands.flatMap(first);
  command.addHelpText('after', () => ['', 'Examples:', ...lines.map((line) => `  ${invocation(line)}`)].join('\n'));
  // A whole help screen would hide the error message.
  command.showHelpAfterError(`(examples: ${invocation(...words, '--help')})`);
  for (const below of command.commands) addExamples(below, [...words, below.name()]);
}
