-- What wrk sends: POSTs with the bodies of a file, one a line, in turns. Arguments: FILE HEADS,
-- where HEADS is `changing` (every request has a request id, a trace and a client's address of its
-- own, as behind a gateway) or `same` (none is sent).
local heads, tails, n = {}, {}, 0
local run, format = string.format("%08x", os.time() % 0x7fffffff), string.format
local is_changing = true

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

-- Requests are put together here but for what changes: wrk is to take little CPU of its own.
function init(args)
  for body in io.lines(args[1]) do
    local whole = wrk.format(nil, nil, nil, body)
    local blank_line = whole:find("\r\n\r\n", 1, true)
    heads[#heads + 1] = whole:sub(1, blank_line + 1)
    tails[#tails + 1] = whole:sub(blank_line + 2)
  end
  is_changing = args[2] == "changing"
end

local function forwarded()
  local id = format("%08x", n)
  return "X-Request-ID: " .. run .. "4a5b4c6d8e7f9a0b" .. id
    .. "\r\ntraceparent: 00-" .. run .. "1b2c3d4e5f607182" .. id .. "-" .. run .. id .. "-01"
    .. "\r\nX-Forwarded-For: 10." .. n % 251 .. "." .. n % 241 .. ".7"
    .. "\r\nX-Forwarded-Proto: https\r\n"
end

function request()
  n = n + 1
  local i = n % #heads + 1
  return heads[i] .. (is_changing and forwarded() or "") .. tails[i]
end
