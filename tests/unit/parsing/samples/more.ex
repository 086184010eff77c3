defmodule Shop do
  @callback fetch(id :: integer) :: term
  @macrocallback build(term) :: Macro.t
  @doc "Joins."
  def a <~> b do
    {a, b}
  end
  defmacro a ~> b when is_atom(a) do
    a
  end
  def +a do
    a
  end
  defstruct [:name, age: 3]
  test "adds" do
    1
  end
end
defmodule Numbers do
  @callback stop :: :ok
  defn add(a, b), do: a + b
end
