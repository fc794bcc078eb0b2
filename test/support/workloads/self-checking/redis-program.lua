-- Makes tables that grow, strings and bitmaps; checks them, and what earlier rounds left.
local round = tonumber(ARGV[1])
local value = function(key) return key .. string.rep('=' .. key, 20) end

if redis.call('EXISTS', 'lasting') == 0 then
  for i = 1, 20000 do redis.call('HSET', 'lasting', i, value('lasting' .. i)) end
end
for i = 1 + round % 7, 20000, 7 do
  if redis.call('HGET', 'lasting', i) ~= value('lasting' .. i) then return 'lasting ' .. i end
end

local part = round % 4
for i = 1, 3000 do
  local key = 'key' .. part .. '/' .. i
  local before = redis.call('GET', key)
  if before and before ~= value(key) then return key end
  if i % 3 == round % 3 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, value(key))
  end
end

redis.call('DEL', 'table', 'bits', 'list')
for i = 1, 5000 do redis.call('HSET', 'table', 'field' .. i, i) end
for i = 1, 5000 do
  if tonumber(redis.call('HGET', 'table', 'field' .. i)) ~= i then return 'table ' .. i end
end
redis.call('SETBIT', 'bits', 8 * (100000 + 1000 * (round % 900)), 1)
if redis.call('BITCOUNT', 'bits') ~= 1 then return 'bits' end
for i = 1, 2000 do redis.call('RPUSH', 'list', value('item' .. i)) end
for i = 1, 2000, 13 do
  if redis.call('LINDEX', 'list', i - 1) ~= value('item' .. i) then return 'list ' .. i end
end
redis.call('DEL', 'table', 'list')
return 'OK'
