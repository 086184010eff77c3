defmodule Shop.Cart do
  @moduledoc """
  What a customer buys.
  """
  use Foo

  @limits [a: 1,
    b: 2]

  defstruct [:a, :b]

  @doc """
  Sends the order.
  """
  @spec send(t, integer) :: t
  def send(conn, status) when is_integer(status) do
    conn
  end

  # Private helper.
  defp halt(conn), do: conn

  defmacro __using__(opts) do
    quote do
      def init(x), do: x
    end
  end

  def noargs, do: 1
  @type t :: %__MODULE__{}
end

defimpl Enumerable, for: Shop.Cart do
  def count(c), do: 1
end
defprotocol Size do
  def size(x)
end
