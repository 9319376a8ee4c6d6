-- Erase a person from what took attention.
update duebook.attention_taken set recipient = :alias where recipient = :recipient
