import { useState } from 'react';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import { VariablesDiff } from '../diff/variables-diff.tsx';
import { Screen } from '../frame/screen.tsx';
import { Badge } from '../parts/badge.tsx';
import { Button, IconButton } from '../parts/button.tsx';
import { Choice, Choices } from '../parts/choices.tsx';
import { CodeBlock, Id } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Faults } from '../parts/faults.tsx';
import { SelectField, TextArea, TextField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { Meter } from '../parts/meter.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Empty, Failed, Refused, Skeleton } from '../parts/state.tsx';
import { MoreRow, SkeletonRows, TableHead } from '../parts/table.tsx';
import { LinkTabs, Tabs } from '../parts/tabs.tsx';
import { LocalTime, RelativeTime } from '../parts/time.tsx';
import { toast } from '../parts/toast.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import { AWAY } from '../server/problem.ts';
import './parts.css';

const PROBLEM = { ...AWAY, requestId: 'req_01m80ffmg7fvkb3k' };
const REFUSED = { ...PROBLEM, message: 'Too many requests.', retryAfter: 42 };
const BARS = [3, 5, 2, 8, 9, 4, 6, 7, 3, 1, 0, 0, 2, 5, 8, 11, 12, 9, 7, 8, 6, 5, 4, 3];

const LINES = Array.from({ length: 30 }, (_, at) => `    Rule ${at + 1} of the desk.`);
const OLD = ['agent "Desk" {', '  temperature 0.2', '  prompt """', ...LINES, '    """', '}'].join(
  '\n',
);
const NEW = OLD.replace('0.2', '0.7')
  .replace('Rule 25 of the desk.', 'Answer in the language of the user.')
  .replace('    """\n}', '    """\n  channel web\n  channel telegram\n}');

/** Every part in all its states, for work on the design. Only development has this page. */
export default function Parts() {
  const [tab, setTab] = useState<'trace' | 'code'>('trace');
  const [isOpen, setOpen] = useState(false);
  return (
    <Screen title="Parts">
      <div className="parts">
        <Group title="Mark">
          <Wordmark />
        </Group>
        <Group title="Buttons">
          <Button look="primary">Deploy</Button>
          <Button>Ask again</Button>
          <Button look="danger">Delete…</Button>
          <Button look="quiet">Cancel</Button>
          <Button look="primary" isBusy>
            Deploying
          </Button>
          <Button unavailable="Your key lacks the scope deploy.">Unavailable</Button>
          <IconButton label="Copy" icon="copy" />
          <Menu label="Actions" button={<Icon name="dots" />}>
            <MenuItem onSelect={() => toast('Opened.')}>Open</MenuItem>
            <MenuItem unavailable="Your key lacks the scope admin." onSelect={() => {}}>
              Rename…
            </MenuItem>
            <hr />
            <MenuItem isDanger onSelect={() => setOpen(true)}>
              Delete…
            </MenuItem>
          </Menu>
        </Group>
        <Group title="Diff">
          <TextDiffView
            label="Definition"
            before={OLD}
            after={NEW}
            beforeName="v12"
            afterName="v13"
          />
          <VariablesDiff
            changes={{ added: ['NEW'], changed: ['TOKEN'], removed: ['OLD'], kept: ['URL'] }}
          />
        </Group>
        <Group title="Fields">
          <TextField label="Name" hint="1 to 200 characters." placeholder="Order desk" />
          <TextField label="Id" isMono error="The id desk is taken." defaultValue="desk" />
          <SelectField label="Environment">
            <option>Production</option>
            <option>Staging</option>
          </SelectField>
          <Choices label="Scopes">
            <Choice
              label="chat"
              hint="Send messages and prompts to bots"
              isChosen={isOpen}
              onChange={setOpen}
            />
            <Choice
              label="admin"
              unavailable="Your key lacks the scope admin."
              isChosen={false}
              onChange={() => {}}
            />
          </Choices>
          <TextArea label="Context" isMono rows={3} defaultValue={'{\n  "plan": "pro"\n}'} />
        </Group>
        <Group title="States">
          <Badge tone="good">deployed</Badge>
          <Badge tone="live">running</Badge>
          <Badge tone="warn">pending</Badge>
          <Badge tone="bad">failed</Badge>
          <Badge tone="off">stopped</Badge>
          <span className="chip">session user-42</span>
          <Id>run_01m80ffmg7fvkb3kz9x2</Id>
          <RelativeTime at={new Date(Date.now() - 7_400_000).toISOString()} />
          <LocalTime at={new Date().toISOString()} />
          <Sparkline
            label="Runs"
            bars={BARS.map((runs, at) => ({ runs, failed: at % 7 ? 0 : 2 }))}
          />
          <Skeleton width="120px" />
        </Group>
        <Group title="Messages">
          <Faults faults={{ status: '“broken” is not one of a, b.' }} effect="It is ignored." />
          <Refused problem={PROBLEM} />
          <Failed problem={PROBLEM} onRetry={() => toast('Tried again.')} />
          <Failed problem={REFUSED} onRetry={() => toast('Tried again.')} />
          <Empty title="No runs yet">
            <p>Send a message in the playground to see its run here.</p>
          </Empty>
          <Button onClick={() => toast('Deleted Order desk.')}>Show a toast</Button>
          <Button onClick={() => toast('Renamed Desk.', () => toast('Renamed back.'))}>
            Show a toast with undo
          </Button>
        </Group>
        <Group title="Figures">
          <div className="parts-wide">
            <Meter label="This minute" used={41} limit={60} />
            <Meter label="Today" used={19_200} limit={20_000} />
          </div>
          <div className="parts-wide">
            <Facts>
              <Fact name="Version">0.2.0</Fact>
              <Fact name="Database">
                <Badge tone="good">PostgreSQL, answers in 1.3 ms</Badge>
              </Fact>
            </Facts>
          </div>
        </Group>
        <Group title="Table">
          <table className="table table-cards">
            <TableHead columns={['Name', 'Created', 'Tokens']} numbers={['Tokens']} />
            <tbody>
              <tr>
                <td>
                  <span className="table-name">Web shop</span>
                </td>
                <td data-label="Created">now</td>
                <td data-label="Tokens" className="right">
                  1,204
                </td>
              </tr>
              <MoreRow
                columns={3}
                pageInfo={{ hasNextPage: true, endCursor: '' }}
                onMore={() => {}}
              />
            </tbody>
            <SkeletonRows columns={3} />
          </table>
        </Group>
        <Group title="Tabs">
          <div className="parts-wide">
            <LinkTabs
              label="Sections"
              tabs={[
                { href: '/console/parts', label: 'Parts' },
                { href: '/settings', label: 'Settings' },
              ]}
            />
            <Tabs<'trace' | 'code'>
              label="Inspector"
              current={tab}
              onChange={(name) => setTab(name)}
              tabs={[
                { name: 'trace', label: 'Trace' },
                { name: 'code', label: 'Code' },
              ]}
            >
              {tab === 'trace' ? (
                <p>The trace.</p>
              ) : (
                <CodeBlock label="curl">curl http://127.0.0.1:4000/healthz</CodeBlock>
              )}
            </Tabs>
          </div>
        </Group>
      </div>
      {isOpen && (
        <Dialog title="Delete Order desk?" onClose={() => setOpen(false)}>
          <p>It cannot be undone.</p>
          <div className="actions">
            <Button onClick={() => setOpen(false)}>Keep it</Button>
            <Button look="danger" onClick={() => setOpen(false)}>
              Delete bot
            </Button>
          </div>
        </Dialog>
      )}
    </Screen>
  );
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="parts-group">
      <h2>{title}</h2>
      <div>{children}</div>
    </section>
  );
}
