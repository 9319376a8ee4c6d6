-- Give held messages back, to be received again at once. What is no longer held is left as it is.
--
-- KEYS: due, held, bell. ARGV: the members.

local now = redis.call('TIME')
for _, member in ipairs(ARGV) do
    if redis.call('ZREM', KEYS[2], member) == 1 then
        redis.call('ZADD', KEYS[1], now[1], member)
    end
end
redis.call('LPUSH', KEYS[3], '')
redis.call('LTRIM', KEYS[3], 0, 0)
