class Submitted(Exception):
    def __init__(self, *messages):
        super().__init__(*messages)
        self.messages = messages
