/** A table whose rows move with an account. */
export type MovedTable = {
  name: string;
  /** Selects the rows of the account with the id `$1`. */
  rows: string;
  /** Columns that belong to the installation, with the values that they have in another one. */
  reset?: Record<string, string | number | null>;
  /** Columns that refer to rows of the same table. They are set when all of its rows exist. */
  links?: readonly string[];
};

const OF_ACCOUNT = 'account_id = $1';
const OF_BOTS = 'bot_id IN (SELECT id FROM bots WHERE account_id = $1)';
const OF_RUNS = `run_id IN (SELECT id FROM runs WHERE ${OF_BOTS})`;
const OF_SESSIONS = `session_key IN (SELECT id FROM sessions WHERE ${OF_BOTS})`;

/** In the order in which their rows can be inserted: rows of a table refer only to earlier tables. */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: 'accounts', rows: 'id = $1' },
  { name: 'api_keys', rows: OF_ACCOUNT, links: ['created_by_id'] },
  { name: 'audit_entries', rows: OF_ACCOUNT },
  { name: 'bots', rows: OF_ACCOUNT },
  { name: 'bot_logos', rows: OF_BOTS },
  { name: 'deployments', rows: OF_BOTS, links: ['rolled_back_to_id', 'previous_id'] },
  { name: 'active_deployments', rows: OF_BOTS },
  {
    name: 'channel_states',
    // The installation that an account leaves still removes the webhooks of replaced deployments.
    rows: `${OF_BOTS} AND NOT leaving`,
    // A connected channel is connected anew: the address of its webhook changes.
    reset: { registered_url: null, poller_id: null, attempts: 0 },
  },
  { name: 'sessions', rows: OF_BOTS, reset: { lease_owner: null, lease_id: null } },
  { name: 'memory_entries', rows: OF_SESSIONS },
  { name: 'runs', rows: OF_BOTS, reset: { owner_id: null } },
  { name: 'run_prompts', rows: OF_RUNS },
  { name: 'tool_calls', rows: OF_RUNS },
  { name: 'approvals', rows: OF_BOTS, reset: { owner_id: null } },
  {
    name: 'approval_messages',
    rows: `approval_id IN (SELECT id FROM approvals WHERE ${OF_BOTS})`,
    reset: { owner_id: null },
  },
  // Only evaluations that have ended move: the variables of others are encrypted for the installation.
  {
    name: 'evaluations',
    rows: `${OF_BOTS} AND finished_at IS NOT NULL`,
    reset: { owner_id: null },
  },
  {
    name: 'evaluation_cases',
    rows: `evaluation_id IN (SELECT id FROM evaluations WHERE ${OF_BOTS} AND finished_at IS NOT NULL)`,
  },
  { name: 'feedback', rows: OF_BOTS },
  { name: 'messages', rows: OF_SESSIONS },
  {
    name: 'idempotency_records',
    // A record without a result belongs to a request that its process did not finish.
    rows: `${OF_ACCOUNT} AND (run_id IS NOT NULL OR deployment_id IS NOT NULL)`,
    reset: { owner_id: null },
  },
  { name: 'telegram_updates', rows: OF_BOTS, reset: { owner_id: null } },
  { name: 'telegram_blocked_chats', rows: OF_BOTS },
];

/** The tables that belong to an installation, and why an account does not need them elsewhere. */
export const STAYING_TABLES: Readonly<Record<string, string>> = {
  _prisma_migrations: 'the migrations of the database',
  installation: 'the secret key of the installation',
  console_sessions: 'users sign in again',
  sign_in_codes: 'they are valid for 15 minutes',
  deleted_bots: 'the ids of bots that no account has',
  run_hours: 'computed from the runs',
  run_totals: 'computed from the runs',
  run_total_changes: 'noted by triggers when the runs are stored',
  run_totals_range: 'which runs the installation has counted',
  run_progress: 'what active runs have emitted; an account that moves has none',
  owners: 'the processes of the installation',
  turn_waiters: 'messages that wait in a process',
};
