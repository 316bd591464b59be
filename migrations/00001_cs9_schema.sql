-- +goose Up

-- Everything that cs9gen keeps about runs. The routines are in the next file.
CREATE SCHEMA cs9;
COMMENT ON SCHEMA cs9 IS 'cs9gen: runs, their plans, and the routines that stage and publish them';

CREATE SCHEMA cs9_staging;
COMMENT ON SCHEMA cs9_staging IS 'cs9gen: what unfinished runs have staged, one table per run and table';

-- One row: what the programs that use this schema compare themselves with.
CREATE TABLE cs9.schema_version (
    only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
    version  integer NOT NULL
);
COMMENT ON TABLE cs9.schema_version IS 'Version of the cs9 schema; a program refuses another one than its own';
INSERT INTO cs9.schema_version (version) VALUES (1);

-- Who owns a task is written in its row, so that a rollback takes it back, and is believed while what it names is there:
-- an advisory lock of the session, or a transaction of the CALL.
CREATE SEQUENCE cs9.claim_number AS integer CYCLE;
COMMENT ON SEQUENCE cs9.claim_number IS 'Numbers the claims: each is the second key of one advisory lock, and used once';

CREATE TABLE cs9.task (
    task_id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task         text    NOT NULL UNIQUE,
    owner_pid    integer,
    claim        integer,
    publisher    text,
    server_start timestamptz,
    CHECK (num_nonnulls(claim, publisher) <= 1),
    CHECK (num_nulls(owner_pid, server_start) = CASE WHEN num_nonnulls(claim, publisher) = 0 THEN 2 ELSE 0 END)
) WITH (fillfactor = 50);
COMMENT ON TABLE cs9.task IS 'Every task that ever ran with a run key, and the session that owns it';
COMMENT ON COLUMN cs9.task.owner_pid IS 'Process of the session that owns the task, while what claim or publisher names is there';
COMMENT ON COLUMN cs9.task.claim IS 'Number of the advisory lock that a session holds while it owns the task';
COMMENT ON COLUMN cs9.task.publisher IS 'Virtual transaction id of the last piece of the CALL that owns the task; its session is in that transaction or in the next one';
COMMENT ON COLUMN cs9.task.server_start IS 'When the server started on which that is: its numbers begin again after a restart';

CREATE TABLE cs9.table_definition (
    table_id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schema_name       name    NOT NULL,
    table_name        name    NOT NULL,
    keys              name[]  NOT NULL CHECK (cardinality(keys) > 0),
    publish_mode      text    NOT NULL CHECK (publish_mode IN ('batched', 'atomic', 'swap', 'swap_or_atomic')),
    staging_name      name    NOT NULL,
    delete_function   name    NOT NULL,
    move_function     name    NOT NULL,
    apply_function    name    NOT NULL,
    publish_procedure name    NOT NULL,
    definition_hash   text    NOT NULL,
    runner_role       name,
    publisher_role    name,
    search_path       name[]  NOT NULL DEFAULT '{}',
    adopted           boolean NOT NULL DEFAULT false,
    adopted_grants    jsonb   NOT NULL DEFAULT '[]',
    UNIQUE (schema_name, table_name)
);
COMMENT ON TABLE cs9.table_definition IS 'The tables that cs9gen generated, and the names of what belongs to each (same schema)';
COMMENT ON COLUMN cs9.table_definition.runner_role IS 'Whose members may stage for the table, besides the owner of the cs9 schema';
COMMENT ON COLUMN cs9.table_definition.publisher_role IS 'Whose members may publish the table, besides the owner of the cs9 schema';
COMMENT ON COLUMN cs9.table_definition.search_path IS 'The schemas that functions of the table count on; empty: pg_catalog alone';
COMMENT ON COLUMN cs9.table_definition.adopted IS 'It was there before cs9gen: adopt: true in its definition';
COMMENT ON COLUMN cs9.table_definition.adopted_grants IS 'What roles were granted when a table was adopted that was there before: taken back when it is given up';
COMMENT ON COLUMN cs9.table_definition.staging_name IS 'Empty template that the tables in cs9_staging are copies of';

CREATE TABLE cs9.run (
    run_id        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id       integer     NOT NULL REFERENCES cs9.task,
    run_key       text        NOT NULL,
    is_current    boolean     NOT NULL DEFAULT true,
    state         text        NOT NULL DEFAULT 'running'
                  CHECK (state IN ('running', 'ready', 'publishing', 'published', 'discarded')),
    attempt       integer     NOT NULL DEFAULT 1,
    today         date        NOT NULL,
    plans         integer     NOT NULL,
    plans_digest  text        NOT NULL,
    allow_empty   boolean     NOT NULL DEFAULT false,
    owner         text        NOT NULL DEFAULT '',
    error         text,
    settings      jsonb       NOT NULL DEFAULT '{}',
    begun_at      timestamptz NOT NULL DEFAULT now(),
    attempt_at    timestamptz NOT NULL DEFAULT now(),
    ready_at      timestamptz,
    publishing_at timestamptz,
    ended_at      timestamptz
);
COMMENT ON TABLE cs9.run IS 'One row a run: (task, run key) names it, and a new one takes the name only after a discard or an explicit "again"';
COMMENT ON COLUMN cs9.run.is_current IS 'False once it was discarded or done over: the run key is free again';
COMMENT ON COLUMN cs9.run.today IS 'Date of the first attempt, which every later attempt sees too';
COMMENT ON COLUMN cs9.run.settings IS 'Settings of the session that proved the run: its publish runs under them';
COMMENT ON COLUMN cs9.run.attempt IS 'Number of the live attempt; a write or call of any other is refused';
CREATE UNIQUE INDEX run_task_id_run_key_idx ON cs9.run (task_id, run_key) WHERE is_current;
CREATE INDEX run_unfinished_idx ON cs9.run (task_id) WHERE state IN ('running', 'ready', 'publishing');

CREATE TABLE cs9.run_table (
    run_id          bigint  NOT NULL REFERENCES cs9.run,
    table_id        integer NOT NULL REFERENCES cs9.table_definition,
    definition_hash text    NOT NULL,
    publish_mode    text    NOT NULL CHECK (publish_mode IN ('batched', 'atomic', 'swap', 'swap_or_atomic')),
    staged_name     name,
    staged_values   text,
    split_name      name,
    retired_names   name[]  NOT NULL DEFAULT '{}',
    staged_filenode oid,
    rows_inserted   bigint,
    rows_upserted   bigint,
    PRIMARY KEY (run_id, table_id)
);
CREATE INDEX run_table_table_id_idx ON cs9.run_table (table_id);
CREATE INDEX run_table_retired_idx ON cs9.run_table (run_id) WHERE retired_names <> '{}';
COMMENT ON TABLE cs9.run_table IS 'The tables of a run, and where in cs9_staging its rows for each are';
COMMENT ON COLUMN cs9.run_table.publish_mode IS 'How this run publishes the table: as its definition says, unless the run was told otherwise';
COMMENT ON COLUMN cs9.run_table.retired_names IS 'In cs9_staging, still to be dropped: partitions that a swap took out of the table, and what another session read when the run ended';
COMMENT ON COLUMN cs9.run_table.staged_values IS 'Of a table with many partitions, once the run is proved: a condition that is true for no live row but in partitions to which staged rows go';
COMMENT ON COLUMN cs9.run_table.split_name IS 'In cs9_staging: the staged rows once more, split by the partitions to which they go, for a swap; null where they need not be';
COMMENT ON COLUMN cs9.run_table.staged_name IS 'Null until the run first writes to the table, and again when it has ended';
COMMENT ON COLUMN cs9.run_table.staged_filenode IS 'Filenode when the publish began: another one means that the table was rewritten and its ctids moved';

-- Each plan is updated twice: a CHECK of the table would be read anew by every UPDATE, that of a domain is kept; and
-- with room on the page an update touches no index.
CREATE DOMAIN cs9.plan_state AS text CHECK (VALUE IN ('pending', 'running', 'done', 'failed'));
COMMENT ON DOMAIN cs9.plan_state IS 'How far a plan came';

CREATE TABLE cs9.plan (
    run_id      bigint  NOT NULL REFERENCES cs9.run,
    plan        integer NOT NULL,
    argsets     jsonb   NOT NULL,
    state       cs9.plan_state NOT NULL DEFAULT 'pending',
    attempt     integer,
    taking      integer NOT NULL DEFAULT 0,
    pid         integer,
    rows_staged bigint,
    error       text,
    began_at    timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (run_id, plan)
) WITH (fillfactor = 50);
COMMENT ON TABLE cs9.plan IS 'The plan list of a run, and how far each plan came';
COMMENT ON COLUMN cs9.plan.attempt IS 'The attempt in which the plan last ran';
COMMENT ON COLUMN cs9.plan.taking IS 'How often the plan was begun; a write or call of an earlier taking is refused';
COMMENT ON COLUMN cs9.plan.pid IS 'Process of the session that took it last';

CREATE TABLE cs9.staged_delete (
    delete_id bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id    bigint  NOT NULL,
    table_id  integer NOT NULL,
    plan      integer NOT NULL,
    kind      text    NOT NULL CHECK (kind IN ('all', 'where', 'keep')),
    condition text,
    CHECK ((kind = 'all') = (condition IS NULL)),
    FOREIGN KEY (run_id, table_id) REFERENCES cs9.run_table,
    FOREIGN KEY (run_id, plan) REFERENCES cs9.plan
);
CREATE INDEX staged_delete_run_id_idx ON cs9.staged_delete (run_id, plan);
COMMENT ON TABLE cs9.staged_delete IS 'Deletes that plans asked for; the publish applies them before it moves a row';

CREATE TABLE cs9.publish_step (
    run_id      bigint  NOT NULL REFERENCES cs9.run,
    step        integer NOT NULL,
    kind        text    NOT NULL CHECK (kind IN ('truncate', 'delete', 'move', 'apply', 'analyze', 'close')),
    table_id    integer REFERENCES cs9.table_definition,
    relation    text,
    condition   text,
    state       text    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done')),
    watermark   tid     NOT NULL DEFAULT '(0,0)',
    upto        tid     NOT NULL DEFAULT '(4294967294,65535)',
    rows_total  bigint,
    rows_done   bigint  NOT NULL DEFAULT 0,
    batches     integer NOT NULL DEFAULT 0,
    note        text,
    began_at    timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (run_id, step)
);
COMMENT ON TABLE cs9.publish_step IS 'What a publish does, in order; recorded before the first live row is touched';
COMMENT ON COLUMN cs9.publish_step.upto IS 'A move ends before this ctid: with several movers each has a range of the staged rows';
COMMENT ON COLUMN cs9.publish_step.note IS 'What was done, where the counts do not say it';
COMMENT ON COLUMN cs9.publish_step.watermark IS 'Every staged row before this ctid has been moved; written in the transaction that moved them';

-- +goose Down
DROP TABLE cs9.publish_step;
DROP TABLE cs9.staged_delete;
DROP TABLE cs9.plan;
DROP DOMAIN cs9.plan_state;
DROP TABLE cs9.run_table;
DROP TABLE cs9.run;
DROP TABLE cs9.table_definition;
DROP TABLE cs9.task;
DROP SEQUENCE cs9.claim_number;
DROP TABLE cs9.schema_version;
DROP SCHEMA cs9_staging;
DROP SCHEMA cs9;
