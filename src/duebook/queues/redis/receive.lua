-- Take messages and hold them: those whose hold is over first, then those that are due.
--
-- KEYS: due, held, bell. ARGV: how many at most, milliseconds to hold them.
-- Answers the members, and the milliseconds until another may be there: -1 if none is known of.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local second = tonumber(time[1])
local most = tonumber(ARGV[1])
local deadline = now + tonumber(ARGV[2])

local taken = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, most)
local fresh = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', second, 'LIMIT', 0, most - #taken)
for _, member in ipairs(fresh) do
    redis.call('ZREM', KEYS[1], member)
    table.insert(taken, member)
end
for _, member in ipairs(taken) do
    redis.call('ZADD', KEYS[2], deadline, member)
end

local due = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local over = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local wait = -1
if due[2] then
    wait = math.max(0, tonumber(due[2]) * 1000 - now)
end
if over[2] then
    local left = math.max(0, tonumber(over[2]) - now)
    wait = wait < 0 and left or math.min(wait, left)
end

-- Whoever waits beside us goes on with what we left.
if wait == 0 then
    redis.call('LPUSH', KEYS[3], '')
    redis.call('LTRIM', KEYS[3], 0, 0)
end
return { taken, wait }
