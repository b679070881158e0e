-- Forced release of the claim with a ticket.
--   $1  key    $2  ticket
-- Gives one row with `freed` (0 or 1) if it was there.
SELECT {release}(key, id)::int AS freed FROM (
  SELECT key, id, ticket FROM {line}
  UNION ALL
  SELECT key, id, ticket FROM {keys} WHERE id IS NOT NULL
) AS everyone
WHERE key = $1 AND ticket = $2
