-- R1, R2: the answers that the worker acts on, each from one function, as the Lua scripts give them in Redis. Every lock that they
-- wait for is waited for shortly (lock_timeout): the caller gives its connection back, waits and asks again.

create function cronce.receipt_hash(entity text, effect text) returns bigint
language sql immutable strict parallel safe as $$
  select ('x' || encode(substr(sha256(convert_to(entity || E'\n' || effect, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
$$;
comment on function cronce.receipt_hash is 'What a receipt folds to';

create function cronce.receipt_shard(hash bigint) returns smallint
language sql immutable strict parallel safe as $$ select (hash & 255)::smallint $$;
comment on function cronce.receipt_shard is 'Which row of a run''s fold a hash is in';

create function cronce.run_lock(service text, slot text) returns bigint
language sql immutable strict parallel safe as $$ select hashtextextended(service || E'\n' || slot, 20260825) $$;
comment on function cronce.run_lock is 'The advisory lock of one run: shared by its effects, exclusive for its fold';

-- A1: on a virtual clock (simulation, tests) the time is an argument.
create function cronce.read_time(given double precision) returns timestamptz
language sql volatile as $$ select coalesce(to_timestamp(given / 1000), clock_timestamp()) $$;
comment on function cronce.read_time is 'Now: the database''s clock, or the time given in epoch milliseconds';

create function cronce.chunk_open(
  p_slot_at timestamptz, p_service text, p_slot text, p_chunk integer, p_fence bigint, p_now double precision
) returns text language plpgsql set lock_timeout = '50ms' as $$
declare
  known cronce.chunk;
begin
  select * into known from cronce.chunk c
    where c.slot_at = p_slot_at and c.service = p_service and c.slot = p_slot and c.chunk = p_chunk;
  if not found or known.fence < p_fence then
    -- Waits for the effects of the holder before: they have committed, or never will, when this one begins.
    insert into cronce.chunk as c (slot_at, service, slot, chunk, fence, state, touched_at)
      values (p_slot_at, p_service, p_slot, p_chunk, p_fence, 'open', cronce.read_time(p_now))
      on conflict (slot_at, service, slot, chunk) do update
        set fence = excluded.fence, state = 'open', touched_at = excluded.touched_at, folded_at = null
        where c.fence < excluded.fence
      returning * into known;
    if not found then
      select * into known from cronce.chunk c
        where c.slot_at = p_slot_at and c.service = p_service and c.slot = p_slot and c.chunk = p_chunk;
    end if;
  end if;
  return case when known.fence = p_fence and known.state = 'open' then 'held' else 'fenced' end;
end $$;
comment on function cronce.chunk_open is 'Writes a holder''s fence into the chunk''s fold row. Answers held, or fenced: a newer one is there, or the chunk is closed';

-- p_holds: a list of [slot instant, slot key, chunk, fence]. In one order for everybody, so that no two wait for each other.
create function cronce.chunks_close(p_service text, p_holds text, p_now double precision)
returns void language sql set lock_timeout = '50ms' as $$
  insert into cronce.chunk as c (slot_at, service, slot, chunk, fence, state, touched_at)
    select distinct on (1, 3, 4) (hold ->> 0)::timestamptz, p_service, hold ->> 1, (hold ->> 2)::integer, (hold ->> 3)::bigint,
        'closed', cronce.read_time(p_now)
      from jsonb_array_elements(p_holds::jsonb) as hold order by 1, 3, 4, 5 desc
    on conflict (slot_at, service, slot, chunk) do update
      set fence = excluded.fence, state = 'closed', touched_at = excluded.touched_at
      where c.fence <= excluded.fence
$$;
comment on function cronce.chunks_close is 'R3: these chunks were settled. Their holders, should they wake late, start no effect';

-- Begins whatever takes receipts. The chunk's fold row and the run's lock are held to the end of the caller's transaction.
create function cronce.take_begin(
  p_slot_at timestamptz, p_service text, p_slot text, p_chunk integer, p_fence bigint, p_idle_ms integer, p_now double precision
) returns text language plpgsql as $$
declare
  known cronce.chunk;
begin
  -- Each statement below must see what was committed while the one before it waited.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'receipts need a transaction of isolation level read committed, got %',
      current_setting('transaction_isolation') using errcode = 'CR001';
  end if;
  -- A worker that froze in the middle holds its locks no longer than its attempt may take.
  if p_idle_ms is not null then
    perform set_config('idle_in_transaction_session_timeout', p_idle_ms::text, true);
  end if;
  perform pg_advisory_xact_lock_shared(cronce.run_lock(p_service, p_slot));
  select * into known from cronce.chunk c
    where c.slot_at = p_slot_at and c.service = p_service and c.slot = p_slot and c.chunk = p_chunk for share;
  if not found or known.fence < p_fence then
    return cronce.chunk_open(p_slot_at, p_service, p_slot, p_chunk, p_fence, p_now);
  end if;
  return case when known.fence = p_fence and known.state = 'open' then 'held' else 'fenced' end;
end $$;
comment on function cronce.take_begin is 'R2: locks the chunk''s fold row and looks at its fence. Answers held or fenced';

-- p_lease_ms null: the receipt is part of the caller's transaction, which its effect is in as well (R2).
create function cronce.receipt_take(
  p_slot_at timestamptz, p_service text, p_slot text, p_chunk integer, p_fence bigint, p_entity text, p_effect text,
  p_token text, p_lease_ms double precision, p_fingerprint text, p_idle_ms integer, p_now double precision
) returns table (status text, now_ms double precision, until_ms double precision, result jsonb, xact text)
language plpgsql set lock_timeout = '50ms' as $$
declare
  receipt cronce.receipt;
  present timestamptz := cronce.read_time(p_now);
  hash bigint;
  lease_end timestamptz := present + p_lease_ms * interval '1 millisecond';
begin
  now_ms := round(extract(epoch from present) * 1000);
  until_ms := 0;
  xact := pg_current_xact_id()::text;
  status := cronce.take_begin(p_slot_at, p_service, p_slot, p_chunk, p_fence, p_idle_ms, p_now);
  if status = 'fenced' then return next; return; end if;
  if exists (select from cronce.fold f where f.slot_at = p_slot_at and f.service = p_service and f.slot = p_slot) then
    hash := cronce.receipt_hash(p_entity, p_effect);
    if exists (select from cronce.fold f where f.slot_at = p_slot_at and f.service = p_service and f.slot = p_slot
        and f.shard = cronce.receipt_shard(hash) and hash = any (f.hashes)) then
      status := 'done';
      return next;
      return;
    end if;
  end if;
  loop
    -- Another transaction with the same key is waited for here: it has committed, or never will, when this goes on.
    insert into cronce.receipt as r
      (slot_at, service, slot, entity, effect, chunk, token, leased_until, done_at, fingerprint)
      values (p_slot_at, p_service, p_slot, p_entity, p_effect, p_chunk, p_token, lease_end,
        case when p_lease_ms is null then present end, p_fingerprint)
      on conflict do nothing;
    if found then status := 'taken'; exit; end if;
    select * into receipt from cronce.receipt r where r.slot_at = p_slot_at and r.service = p_service
      and r.slot = p_slot and r.entity = p_entity and r.effect = p_effect for update;
    -- Given back between the two: nobody has it.
    continue when not found;
    if receipt.fingerprint <> p_fingerprint then
      status := 'conflict';
    elsif receipt.done_at is not null then
      status := 'done';
      result := receipt.result;
    elsif receipt.leased_until > present then
      status := 'leased';
      until_ms := round(extract(epoch from receipt.leased_until) * 1000);
    else
      update cronce.receipt r set chunk = p_chunk, token = p_token, leased_until = lease_end,
          done_at = case when p_lease_ms is null then present end, fingerprint = coalesce(p_fingerprint, r.fingerprint)
        where r.slot_at = p_slot_at and r.service = p_service and r.slot = p_slot
          and r.entity = p_entity and r.effect = p_effect;
      status := 'taken';
    end if;
    exit;
  end loop;
  if status = 'taken' and p_lease_ms is not null then
    until_ms := round(extract(epoch from lease_end) * 1000);
  end if;
  return next;
end $$;
comment on function cronce.receipt_take is 'R1, R2: checks fence, fold and receipt, and takes the effect. Answers taken, done, leased, fenced or conflict';

create function cronce.receipt_write(
  p_slot_at timestamptz, p_service text, p_slot text, p_chunk integer, p_entity text, p_effect text,
  p_token text, p_what text, p_lease_ms double precision, p_now double precision
) returns text language plpgsql set lock_timeout = '50ms' as $$
declare
  receipt cronce.receipt;
  present timestamptz := cronce.read_time(p_now);
  is_closed boolean;
begin
  perform pg_advisory_xact_lock_shared(cronce.run_lock(p_service, p_slot));
  -- R3: the fold is looked at again, for an owner that wakes after its chunk was settled by another.
  is_closed := coalesce((select c.state = 'closed' from cronce.chunk c where c.slot_at = p_slot_at
    and c.service = p_service and c.slot = p_slot and c.chunk = p_chunk), true);
  select * into receipt from cronce.receipt r where r.slot_at = p_slot_at and r.service = p_service
    and r.slot = p_slot and r.entity = p_entity and r.effect = p_effect for update;
  if not found then return case when is_closed then 'already' else 'lost' end; end if;
  if receipt.done_at is not null then return 'already'; end if;
  if receipt.token <> p_token then return case when is_closed then 'already' else 'lost' end; end if;
  if p_what = 'done' then
    -- Needs the lease's token only, so that a true effect is never disowned.
    update cronce.receipt r set done_at = present, leased_until = null where r.slot_at = p_slot_at
      and r.service = p_service and r.slot = p_slot and r.entity = p_entity and r.effect = p_effect;
  elsif p_what = 'release' then
    delete from cronce.receipt r where r.slot_at = p_slot_at and r.service = p_service and r.slot = p_slot
      and r.entity = p_entity and r.effect = p_effect;
  elsif not is_closed then
    update cronce.receipt r set leased_until = present + p_lease_ms * interval '1 millisecond'
      where r.slot_at = p_slot_at and r.service = p_service and r.slot = p_slot
        and r.entity = p_entity and r.effect = p_effect;
  end if;
  return case when is_closed then 'already' else 'written' end;
end $$;
comment on function cronce.receipt_write is 'R1: writes, renews or gives back a lease. Answers written, already (it is done, or the chunk has closed) or lost (the lease is another''s)';

create function cronce.receipt_keep(
  p_slot_at timestamptz, p_service text, p_slot text, p_entity text, p_effect text, p_token text, p_result jsonb
) returns integer language sql as $$
  update cronce.receipt r set result = p_result where r.slot_at = p_slot_at and r.service = p_service
    and r.slot = p_slot and r.entity = p_entity and r.effect = p_effect and r.token = p_token
  returning 1
$$;
comment on function cronce.receipt_keep is 'Keeps what an effect returned, in the transaction of the effect';

create function cronce.fold_run(p_slot_at timestamptz, p_service text, p_slot text, p_now double precision)
returns integer language plpgsql set lock_timeout = '1s' as $$
declare
  folded integer;
begin
  -- Effects of the run that are under way: another time.
  if not pg_try_advisory_xact_lock(cronce.run_lock(p_service, p_slot)) then return -1; end if;
  with gone as (
    delete from cronce.receipt r where r.slot_at = p_slot_at and r.service = p_service and r.slot = p_slot
      and r.done_at is not null and r.result is null and r.fingerprint is null
    returning cronce.receipt_hash(r.entity, r.effect) as hash
  ), packed as (
    insert into cronce.fold as f (slot_at, service, slot, shard, hashes)
      select p_slot_at, p_service, p_slot, cronce.receipt_shard(gone.hash), array_agg(gone.hash order by gone.hash)
        from gone group by 4
      on conflict (slot_at, service, slot, shard) do update set hashes =
        (select array_agg(distinct hash order by hash) from unnest(f.hashes || excluded.hashes) hash)
  )
  select count(*) into folded from gone;
  update cronce.chunk c set folded_at = cronce.read_time(p_now)
    where c.slot_at = p_slot_at and c.service = p_service and c.slot = p_slot;
  return folded;
end $$;
comment on function cronce.fold_run is 'R3: folds the receipts of a run at rest. Answers how many, or -1: the run is at work';

insert into cronce.migration (number, name) values (2, 'receipt-functions');
