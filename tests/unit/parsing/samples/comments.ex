defmodule A do
  @doc """
    Sort
    it.
    """
  def f1(x), do: x

  @doc ~S"""
  Sort it.
  """
  def f2(x), do: x

  @typedoc "Sort it."
  @type t3 :: integer

end
