-- Ask the language server as a user of Neovim does, and write its answers to the file LIST.
local answers = {}
local function wait(is_so)
  if not vim.wait(100000, is_so, 20) then error('too late: ' .. vim.inspect(answers)) end
end
local function places(list)
  local found = {}
  for _, one in ipairs(list) do
    table.insert(found, { vim.fn.bufname(one.bufnr), one.lnum, one.col, one.text })
  end
  return found
end
local function ask()
  vim.cmd('edit a\\ b.py')
  wait(function()
    local client = (vim.lsp.get_clients or vim.lsp.get_active_clients)()[1]
    return client and client.initialized
  end)
  vim.lsp.buf.workspace_symbol('put an item on top')
  wait(function() return #vim.fn.getqflist() > 0 end)
  answers.project = places(vim.fn.getqflist())
  vim.cmd('cclose')
  vim.fn.setqflist({})
  vim.lsp.buf.document_symbol()
  wait(function() return #vim.fn.getqflist() + #vim.fn.getloclist(0) > 0 end)
  answers.file = places(#vim.fn.getqflist() > 0 and vim.fn.getqflist() or vim.fn.getloclist(0))
  vim.cmd('edit c.py')
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '', '', '' })  -- It is not saved.
  vim.fn.search('push(1)')
  for _, name in ipairs({ 'definition', 'references', 'hover' }) do
    local params = vim.lsp.util.make_position_params(0, 'utf-16')
    params.context = { includeDeclaration = true }
    local answer = vim.lsp.buf_request_sync(0, 'textDocument/' .. name, params, 100000)
    answers[name] = ({ next(answer) })[2].result
  end
end
local is_done, message = pcall(ask)
answers.error = not is_done and message or nil
vim.fn.writefile({ vim.fn.json_encode(answers) }, 'LIST')
vim.cmd('qall!')
