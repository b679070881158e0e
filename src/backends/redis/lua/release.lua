-- Gives up holds or places, each on its own, and admits whoever is next and tells them. Never too late.
--   KEYS  per handle: lock; of a Cluster, then the others
--   ARGV  per handle: id, and ms for which its last token is remembered, as one: "<id> <ms>"
--   ->    per handle, and of one handle by itself: 1 if there was something to give up, 0 if not, "! <error>"; 3 or 2 where more
--         are to be passed or admitted than one script does: whoever asks for the key next goes on, and the asker should
-- @include lock
-- @include free
-- @include line
-- @include release
if #ARGV == 1 then return safely(release, KEYS[1], ARGV[1]) end
local replies = {}
for i = 1, #ARGV do
  replies[i] = safely(release, KEYS[i], ARGV[i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return replies
