-- R2 for the entities of a chunk in one transaction: as receipt_take, whose receipts these are, but all in one go.
create function cronce.receipts_take(
  p_slot_at timestamptz, p_service text, p_slot text, p_chunk integer, p_fence bigint, p_entities text, p_effect text,
  p_token text, p_idle_ms integer, p_now double precision
) returns table (status text, taken text, xact text)
language plpgsql set lock_timeout = '50ms' as $$
declare
  present timestamptz := cronce.read_time(p_now);
  asked text[] := array(select jsonb_array_elements_text(p_entities::jsonb));
  due text[];
  fresh text[];
  held text[];
  ended integer := 0;
  receipt record;
begin
  xact := pg_current_xact_id()::text;
  taken := '';
  status := cronce.take_begin(p_slot_at, p_service, p_slot, p_chunk, p_fence, p_idle_ms, p_now);
  if status = 'fenced' then return next; return; end if;
  due := asked;
  if exists (select from cronce.fold f where f.slot_at = p_slot_at and f.service = p_service and f.slot = p_slot) then
    due := array(
      select a.entity from unnest(asked) as a (entity), lateral cronce.receipt_hash(a.entity, p_effect) as hash
        where not exists (select from cronce.fold f where f.slot_at = p_slot_at and f.service = p_service
          and f.slot = p_slot and f.shard = cronce.receipt_shard(hash) and hash = any (f.hashes)));
  end if;
  -- In one order for everybody, so that no two wait for each other. Nearly always all of them are new, and an insert that reckons with
  -- no conflict is the cheaper one.
  begin
    insert into cronce.receipt as r (slot_at, service, slot, entity, effect, chunk, token, done_at)
      select p_slot_at, p_service, p_slot, d.entity, p_effect, p_chunk, p_token, present
        from unnest(due) as d (entity) order by d.entity;
    fresh := due;
  exception when unique_violation then
    with written as (
      insert into cronce.receipt as r (slot_at, service, slot, entity, effect, chunk, token, done_at)
        select p_slot_at, p_service, p_slot, d.entity, p_effect, p_chunk, p_token, present
          from unnest(due) as d (entity) order by d.entity
        on conflict do nothing
        returning r.entity
    )
    select coalesce(array_agg(entity), '{}') into fresh from written;
  end;
  if cardinality(fresh) < cardinality(due) then
    held := array(select unnest(due) except select unnest(fresh));
    for receipt in
      select r.entity, r.done_at, r.leased_until from cronce.receipt r where r.slot_at = p_slot_at
        and r.service = p_service and r.slot = p_slot and r.effect = p_effect and r.entity = any (held)
        order by r.entity for update
    loop
      ended := ended + 1;
      if receipt.done_at is not null then continue; end if;
      if receipt.leased_until > present then
        raise exception 'an effect of this call is leased elsewhere' using errcode = '55P03';
      end if;
      update cronce.receipt r set chunk = p_chunk, token = p_token, leased_until = null, done_at = present
        where r.slot_at = p_slot_at and r.service = p_service and r.slot = p_slot
          and r.entity = receipt.entity and r.effect = p_effect;
      fresh := fresh || receipt.entity;
    end loop;
    -- One was given back between the two statements: the caller asks again.
    if ended < cardinality(held) then
      raise exception 'an effect of this call was leased elsewhere' using errcode = '55P03';
    end if;
  end if;
  status := 'taken';
  if cardinality(fresh) = cardinality(asked) then
    taken := 'all';
  else
    taken := coalesce((select string_agg((a.ordinal - 1)::text, ',' order by a.ordinal)
      from unnest(asked) with ordinality as a (entity, ordinal) where a.entity = any (fresh)), '');
  end if;
  return next;
end $$;
comment on function cronce.receipts_take is 'R2: takes an effect of many entities in the caller''s transaction. Answers taken, and which (all, or positions from 0), or fenced; where one of them is another''s, it fails as a lock that was not had';

insert into cronce.migration (number, name) values (3, 'chunk-receipts');
