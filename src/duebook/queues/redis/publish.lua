-- Put messages into the queue.
--
-- KEYS: due, sequence, bell. ARGV: delay in whole seconds, then a body for each message.
--
-- What is delayed is due at a whole second, rounded up: whoever counts down to one instant in whole seconds from
-- different moments arrives in the same second, and there the sequence keeps the order of publication.

local now = redis.call('TIME')
local delay = tonumber(ARGV[1])
local due = tonumber(now[1]) + delay
if delay > 0 and tonumber(now[2]) > 0 then
    due = due + 1
end

local first = redis.call('INCRBY', KEYS[2], #ARGV - 1) - #ARGV + 1
for i = 2, #ARGV do
    redis.call('ZADD', KEYS[1], due, string.format('%016d:%s', first + i - 1, ARGV[i]))
end

redis.call('LPUSH', KEYS[3], '')
redis.call('LTRIM', KEYS[3], 0, 0)
