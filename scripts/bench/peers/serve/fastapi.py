"""FastAPI + pydantic + scikit-learn, written the usual way."""

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, Field
from serving import Model

model = Model()
app = FastAPI()


class Request(BaseModel):
    """Documents to label."""

    documents: list[str] = Field(min_length=1, max_length=1000)
    top_k: int = Field(5, ge=1)


class Label(BaseModel):
    """A label with its score."""

    label: str
    score: float


class Response(BaseModel):
    """The labels of each document."""

    predictions: list[list[Label]]


@app.post("/predict")
async def predict(request: Request) -> Response:
    """Labels for each document."""
    return Response(predictions=[model.best(text, request.top_k) for text in request.documents])


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")
