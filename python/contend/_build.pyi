from typing import Optional

version: str
shared_folder: Optional[str]
