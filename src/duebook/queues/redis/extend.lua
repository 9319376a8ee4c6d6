-- Hold messages for longer. What is no longer held is left as it is.
--
-- KEYS: held. ARGV: milliseconds from now, then the members.

local time = redis.call('TIME')
local deadline = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[1])
for i = 2, #ARGV do
    redis.call('ZADD', KEYS[1], 'XX', deadline, ARGV[i])
end
