-- Forced release of the claim with a ticket.
--   $1  key    $2  ticket
-- Gives one row with `freed` if it was there.
SELECT {release}(key, id) AS freed FROM {line} WHERE key = $1 AND ticket = $2
