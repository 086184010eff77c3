class Cart < ApplicationRecord
  belongs_to :account
  has_many :items, dependent: :destroy
  scope :open, -> { where(open: true) }
  enum status: { draft: 0, paid: 1 }
  field "note", type: String
  validates :account, presence: true
  Cart.scope :other, 1
end
