-- Purpose: a step met a lock: say how long to wait before the next try, or give up.
-- Errors:  S9017 after cs9.lock_retries tries; the committed steps stay. It names who holds a lock on the table.
CREATE FUNCTION cs9.publish_blocked(
    p_run_id       bigint,
    p_step         cs9.publish_step,
    p_waits        integer,
    p_reason       text,
    OUT lock_waits integer,
    OUT pause      double precision,
    OUT message    text,
    OUT detail     text
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $publish_blocked$
#variable_conflict error
DECLARE
    v_retries  integer  := cs9.setting('lock_retries', '5')::integer;
    v_backoff  interval := cs9.setting('lock_backoff', '500ms')::interval;
    v_relation text     := coalesce(p_step.relation, CASE p_step.kind WHEN 'apply' THEN 'one of its atomic and swap tables' ELSE 'what it staged' END);
BEGIN
    IF p_waits >= v_retries THEN
        RAISE EXCEPTION 'the publish of run % stopped: % is locked by another session', p_run_id, v_relation
            USING ERRCODE = 'S9017',
                  DETAIL = format('Step %s (%s): %s, %s times, each after %s%s. The steps before it are committed.',
                                  coalesce(p_step.step::text, '-'), coalesce(p_step.kind, '-'), p_reason, p_waits + 1,
                                  cs9.setting('lock_timeout', '2s'), '; ' || CASE WHEN p_step.relation IS NULL THEN cs9.strongest_locks() ELSE cs9.lock_holders(to_regclass(p_step.relation)) END),
                  HINT = 'Resume it with CALL cs9.publish(task, run_key), or with the same run key, when the lock is gone: SELECT * FROM pg_locks shows who holds it.',
                  SCHEMA = coalesce((parse_ident(p_step.relation))[1], ''),
                  TABLE = coalesce((parse_ident(p_step.relation))[2], '');
    END IF;
    lock_waits := p_waits + 1;
    pause := least(extract(epoch FROM v_backoff) * 2 ^ p_waits, 30);
    message := format('%s is locked by another session; try %s of %s follows in %s s', v_relation, lock_waits, v_retries, pause);
    detail := jsonb_build_object('run_id', p_run_id, 'step', p_step.step, 'kind', p_step.kind, 'table', p_step.relation,
                                 'waits', lock_waits, 'pause', pause, 'done', false)::text;
END;
$publish_blocked$;
COMMENT ON FUNCTION cs9.publish_blocked(bigint, cs9.publish_step, integer, text) IS 'Pause before the next try at a lock, or S9017';
