"""The slow referees: an independent reading of RULEBOOK.md that shares no code with the engine."""

from .beast import BeastReferee
from .bestia import BestiaReferee

__all__ = ["BeastReferee", "BestiaReferee"]
