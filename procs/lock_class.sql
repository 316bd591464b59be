-- Purpose: the class of cs9gen's advisory locks, so that they meet no other program's: the bytes of 'cs9'.
CREATE FUNCTION cs9.lock_class()
RETURNS integer
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
AS $lock_class$ SELECT 6517561 $lock_class$;
COMMENT ON FUNCTION cs9.lock_class() IS 'First key of the advisory locks of cs9gen; the second is cs9.task.claim';
