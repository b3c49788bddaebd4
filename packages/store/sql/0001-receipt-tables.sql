-- R1 to R3, R5: receipts in Postgres. Never edited after a release: a change is another file.
create schema if not exists cronce;

create table if not exists cronce.migration (
  number integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
);
comment on table cronce.migration is 'Which numbered files of Cronce were applied to this database';
comment on column cronce.migration.number is 'The number that the file''s name begins with';
comment on column cronce.migration.name is 'The file''s name without number and suffix';
comment on column cronce.migration.applied_at is 'When it was applied';

create table cronce.chunk (
  slot_at timestamptz not null,
  service text not null,
  slot text not null,
  chunk integer not null,
  fence bigint not null,
  state text not null check (state in ('open', 'closed')),
  touched_at timestamptz not null,
  folded_at timestamptz,
  primary key (slot_at, service, slot, chunk)
) partition by range (slot_at);
comment on table cronce.chunk is 'The fold row of a chunk: locked by every effect of the chunk, so that nobody takes it over in the middle of one';
comment on column cronce.chunk.slot_at is 'The nominal instant of the slot; the table is partitioned by its month (UTC)';
comment on column cronce.chunk.service is 'The service that the job is of';
comment on column cronce.chunk.slot is 'The slot key';
comment on column cronce.chunk.chunk is 'The number of the chunk in its run';
comment on column cronce.chunk.fence is 'The newest fence that was seen here: an older holder starts no effect';
comment on column cronce.chunk.state is 'open, or closed: settled, so that its holder starts no effect either';
comment on column cronce.chunk.touched_at is 'When it was last opened or closed; retention counts from here where that is later than slot_at';
comment on column cronce.chunk.folded_at is 'When its receipts were folded; null while they stand alone';

create table cronce.receipt (
  slot_at timestamptz not null,
  service text not null,
  slot text not null,
  entity text not null,
  effect text not null,
  chunk integer not null,
  token text not null,
  leased_until timestamptz,
  done_at timestamptz,
  fingerprint text,
  result jsonb,
  primary key (slot_at, service, slot, entity, effect),
  check ((done_at is null) <> (leased_until is null))
) partition by range (slot_at);
comment on table cronce.receipt is 'Proof that (slot, entity, effect) happened, or a lease of it that ends by itself';
comment on column cronce.receipt.slot_at is 'The nominal instant of the slot; the table is partitioned by its month (UTC)';
comment on column cronce.receipt.service is 'The service that the job is of';
comment on column cronce.receipt.slot is 'The slot key';
comment on column cronce.receipt.entity is 'The key of the entity';
comment on column cronce.receipt.effect is 'The name of the effect within the entity';
comment on column cronce.receipt.chunk is 'The chunk whose holder wrote it last';
comment on column cronce.receipt.token is 'The token of the attempt that leased or wrote it';
comment on column cronce.receipt.leased_until is 'Until when the effect is left to that attempt; null once it is done';
comment on column cronce.receipt.done_at is 'When the receipt was written; null while the effect is only leased';
comment on column cronce.receipt.fingerprint is 'What the effect was asked to do, where the handler says so: another one under the same name is refused';
comment on column cronce.receipt.result is 'What the effect returned, where the handler asked to keep it; such receipts do not fold';

create table cronce.fold (
  slot_at timestamptz not null,
  service text not null,
  slot text not null,
  shard smallint not null,
  hashes bigint[] not null,
  primary key (slot_at, service, slot, shard)
) partition by range (slot_at);
comment on table cronce.fold is 'Receipts of runs at rest, as 8-byte hashes of entity and effect';
comment on column cronce.fold.slot_at is 'The nominal instant of the slot; the table is partitioned by its month (UTC)';
comment on column cronce.fold.service is 'The service that the job is of';
comment on column cronce.fold.slot is 'The slot key';
comment on column cronce.fold.shard is 'The lowest bits of the hashes in this row';
comment on column cronce.fold.hashes is 'The first 8 bytes of SHA-256 over entity, line break, effect, of every receipt that folded';

-- Months that maintenance has not made yet, so that no effect waits for it.
create table cronce.chunk_rest partition of cronce.chunk default;
create table cronce.receipt_rest partition of cronce.receipt default;
create table cronce.fold_rest partition of cronce.fold default;

insert into cronce.migration (number, name) values (1, 'receipt-tables');
